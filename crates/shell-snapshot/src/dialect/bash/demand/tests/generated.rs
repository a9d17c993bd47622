//! Scripts to compare: written ones, and such as come of a grammar of what agents type, and of mutations.

/// Of forms that once were taken for harmless, or are near to what is not.
pub(super) const WRITTEN: &[&str] = &[
    "f a; h b; where; big a; big c",
    "where; echo $LINENO\nwhere\nwhere | cat",
    "outer; inner; outer",
    "shared; bash -c 'shared; f'; env bash -c shared",
    "nosuch a b; echo $?",
    "cd /; pwd; cd - >/dev/null; ls file",
    "counts; run f; run evil",
    "now; x1 2; ll; .. ; loop",
    "\\f; 'g' \"h\"; f''; e",
    "sudo now",
    "type f; command -v where; type -t evil; hash f",
    "type where",
    "unset -f f; f; unset g; g",
    "unset evil; evil",
    "f() { echo mine; }; f; g",
    "evil() { echo mine; }; evil",
    "echo2() { :; }; echo2 x",
    "shared() { echo mine; }; bash -c shared",
    "A=evil; echo $A ${A} \"${A:-$(f)}\" ${A#e}",
    "read -r x y < file; echo \"$x\" \"$y\"",
    "while read -r l; do f \"$l\"; done < file",
    "mapfile -t m < file; echo \"${m[1]}\" ${#m[@]}",
    "cat <<E\n$(f) $NAMED $PAYLOAD\nE\necho 'x'",
    "cat <<'E'\n$(evil)\nE",
    "x=$(cat <<'E'\nevil `evil`\nE\n); echo \"$x\"",
    "[ \"$PAYLOAD\" = \"$NAMED\" ]; echo $?; [ -n \"$PAYLOAD\" ] && f",
    "[ \"$PAYLOAD\" -eq 1 ]; echo $?",
    "[[ $PAYLOAD == a* && -f file ]] && f",
    "[[ $PAYLOAD =~ a ]]; echo \"${BASH_REMATCH[0]}\"",
    "trap 'f; echo bye' EXIT; g",
    "trap 'where' INT EXIT; exit 3",
    "printf -v v '%s' \"$PAYLOAD\"; echo \"$v\"; printf '%d\\n' \"$PAYLOAD\"",
    "printf '%s %q\\n' \"$PAYLOAD\" \"$@\"",
    "export A=$PAYLOAD B=\"$(f)\"; declare -p A B",
    "set -e; f; g; h; evil",
    "set -u; f; echo $unset; g",
    "set -euo pipefail; f | asks | cat; asks || f",
    "set -- evil f; echo \"$@\"; g \"$@\"",
    "local x=1; return 3; shift 9; break",
    "for i in $NAMED $PAYLOAD *; do echo \"$i\"; done",
    "case $NAMED in evil) f ;; *) g ;; esac",
    "echo $((1+1)) $(( (2) * 3 )) $((08))",
    "getopts 'ab:' o -a -b x; echo $o $OPTIND",
    "shopt -s extglob nullglob; echo !(file) *.x",
    "echo @(file|x)",
    "f & wait; g | cat; (h x); { big a; } 2>&1",
    "time f 2>/dev/null",
    "! f; echo $?",
    "if asks; then f; elif asks x; then g; else h; fi",
    "until asks x; do f; done",
    "then_some; echo then",
    "diff <(f) <(g); cat < <(f) > >(tr f g); wait $!",
    "exec 3>out; f >&3; exec 3>&-; cat out",
    "exec evil; f",
    "exec f",
    "a \\\n f \\\n && g\n",
    "xargs -n1 bash -c 'shared' < file",
    "echo \"${LIST[0]}\" ${LIST[@]} \"${#LIST[@]}\" ${LIST[-1]} ${PAYLOAD:0:3}",
    "x=(f $PAYLOAD \"$NAMED\" [ ]); echo \"${x[@]}\"",
    "x=($(f)); echo ${#x[@]}",
    "MAP=(a b); LIST=x; LIST+=(y)",
    "LC_ALL=C f; IFS=v g $NAMED; IFS=v; h $NAMED",
    "command f; builtin f; command echo x; builtin echo x",
    "command -v nosuch f evil ll if",
    "echo $'a\\'b' \"a\\\nb\" 'a\nb'; f",
    "f\n)\ng",
    "f; g; (h; evil",
    "f; echo 'open",
    "f & & g",
    "f ;; g",
    "if f; fi",
    "wait; jobs; umask; ulimit -n; dirs; pushd / ; popd",
    "shift; echo \"$1\" $# $*; exit 4",
    "evil=1; evil+=2; echo $evil",
    "echo \"`f`\" `g`",
    "`echo f`",
    "$NAMED",
    "x=1 $NAMED",
    "((x=PAYLOAD))",
    "echo ${LIST[PAYLOAD]} ${x:PAYLOAD}",
    "[ -v PAYLOAD ]; [[ -v $PAYLOAD ]]; test -v \"$PAYLOAD\"",
    "read \"$PAYLOAD\" <<< x; unset \"$PAYLOAD\"",
    "PS4='$(evil)'; set -x; f",
    "NUMBER=PAYLOAD; NUMBER=$PAYLOAD",
    "ev f; sub; two; c ev evil",
    "x=(a); declare x=$COMPOUND; export x=$COMPOUND; LIST=$COMPOUND",
    "export LIST=$COMPOUND; readonly LIST=\"$COMPOUND\"",
    "declare -a x; declare x=$COMPOUND",
    "x=$COMPOUND; y=($COMPOUND \"$COMPOUND\"); export z=$COMPOUND; MAP=($COMPOUND)",
];

const COMMANDS: &[&str] = &[
    "f",
    "g",
    "h",
    "big",
    "ls",
    "cd",
    "where",
    "outer",
    "inner",
    "shared",
    "asks",
    "counts",
    "run",
    "evil",
    "echo2",
    "nosuch",
    "ll",
    "e",
    "sudo",
    "ev",
    "sub",
    "c",
    "..",
    "loop",
    "two",
    "now",
    "x1",
    "echo",
    "printf",
    "cat",
    "env",
    "bash -c",
    "seq 2",
    "tr a b",
    "wc -l",
    "sort",
    "read",
    "read -r",
    "export",
    "local",
    "declare",
    "unset",
    "set",
    "[",
    "test",
    "[[",
    "type",
    "command",
    "command -v",
    "builtin",
    "hash",
    "trap",
    "wait",
    "shift",
    "return",
    "eval",
    ":",
    "true",
    "false",
    "getopts ab",
    "mapfile -t",
    "printf -v",
    "shopt -s",
    "let",
    "time",
    "!",
    "xargs -n1",
    "exec",
    "source",
    "readonly",
    "typeset",
    "A=1",
    "x=$PAYLOAD",
    "x=$COMPOUND",
    "x=(a b)",
    "declare x=$COMPOUND",
    "NUMBER=1",
    "set --",
    "\\f",
    "'g'",
    "\"h\"",
    "f''",
    "$NAMED",
    "$(f)",
    "pwd",
    "umask",
    "basename",
    "touch",
    "mkdir -p",
];

const ARGUMENTS: &[&str] = &[
    "a",
    "b c",
    "f",
    "evil",
    "$PAYLOAD",
    "\"$PAYLOAD\"",
    "$NAMED",
    "\"$NAMED\"",
    "\"$COMMAND\"",
    "$COMMAND",
    "\"$@\"",
    "$1",
    "\"$2\"",
    "*",
    "file",
    "'$(evil)'",
    "\"$(f)\"",
    "$(g)",
    "`f`",
    "${LIST[1]}",
    "\"${LIST[@]}\"",
    "${MAP[@]}",
    "${x:-f}",
    "\"${x:-$(f)}\"",
    "${PAYLOAD%x}",
    "${PAYLOAD//a/b}",
    "$((1+2))",
    "$((x))",
    "$((PAYLOAD))",
    "-v",
    "-n",
    "-p",
    "-f",
    "-a",
    "-e",
    "-eq",
    "=",
    "==",
    "!",
    "-x",
    "--",
    "]",
    "]]",
    "x",
    "y",
    "x=1",
    "x=$PAYLOAD",
    "NUMBER",
    "EXIT",
    "INT",
    "DEBUG",
    "'f; evil'",
    "$ASSIGNMENT",
    "\"$ASSIGNMENT\"",
    "{a,f}",
    "~",
    "$?",
    "$#",
    "1",
    "'%s\\n'",
    "\"%s\"",
    "#x",
    "é",
    "a\\ b",
    "\\f",
    "$'x'",
    "2>&1",
    ">out",
    "<file",
    "<<<\"$PAYLOAD\"",
    "2>/dev/null",
    "< <(f)",
    "<(g)",
    "x[1]",
    "x[$PAYLOAD]=1",
    "${!NAMED}",
    "${NAMED@P}",
    "\"${x[PAYLOAD]}\"",
    "extglob",
    "nullglob",
    "pipefail",
    "-o",
    "-u",
    "+e",
    "then",
    "do",
    "in",
    "{",
    "}",
    "ll",
    "two",
    "sub",
    "$COMPOUND",
    "\"$COMPOUND\"",
    "x=$COMPOUND",
    "LIST=$COMPOUND",
    "LIST",
    "-a x",
    "-A",
];

/// What holds commands: `@` is put in.
const FRAMES: &[&str] = &[
    "@",
    "@",
    "@",
    "@; @",
    "@ && @",
    "@ || @",
    "@ | @",
    "@\n@",
    "(@)",
    "{ @; }",
    "if @; then @; fi",
    "if @; then @; else @; fi",
    "for i in @; do @; done",
    "for i in a \"$PAYLOAD\" f; do @ \"$i\"; done",
    "while read -r l; do @ \"$l\"; done < file",
    "case $NAMED in evil) @ ;; *) @ ;; esac",
    "x=$(@); @ \"$x\"",
    "x=\"$(@)\"",
    "echo \"$(@)\"",
    "cat <<E\n$(@) $PAYLOAD\nE\n@",
    "cat <<'E'\n@\nE\n@",
    "new() { @; }; new a; @",
    "f() { @; }; f",
    "! @",
    "@ &\nwait",
    "@ > out; cat out",
    "@ \\\n  a",
    "time @",
    "trap '@' EXIT; @",
    "# @\n@",
    "x=(@); @ \"${x[@]}\"",
    "[ \"$x\" = @ ] && @",
    "[[ @ ]] && @",
    "@ `@`",
    "diff <(@) <(@)",
    "set -e; @; @",
    "set -u\n@",
    "PAYLOAD=b @",
    "export x=$(@)",
    "@ # @",
    "cd /; @",
    "until @; do break; done",
    "select i in @; do break; done",
    "coproc @",
    "function z { @; }; z",
    "echo \"${x:-@}\"",
    "echo ${x:-@}",
    "echo `@`",
    "command @",
    "builtin @",
    "exec 3<file; @ <&3",
    "git commit -m \"$(cat <<'E'\n@\nE\n)\"",
];

/// What mutations put in.
const PIECES: &[&str] = &[
    "'", "\"", "`", "$", "\\", "\n", "\\\n", "(", ")", "{", "}", "[", "]", ";", "&", "|", "<", ">", "#", "!",
    "=", " ", "f", "evil", "$(", "${", "$((", "<<E\n", "\nE\n", "((", "))", "[[", "]]", "~", "*", "?", ":",
    "@", "-v", "$'",
];

/// Makes scripts, the same ones each time.
#[derive(Debug)]
pub(super) struct Generator(u64);

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// xorshift64*.
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap() % below
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.next(from.len())]
    }

    pub(super) fn script(&mut self) -> String {
        let mut script = if self.next(12) == 0 {
            self.pick(WRITTEN).to_owned()
        } else {
            self.commands(3)
        };
        if self.next(3) == 0 {
            for _ in 0..=self.next(3) {
                self.mutate(&mut script);
            }
        }
        script
    }

    fn commands(&mut self, depth: u32) -> String {
        let mut script = String::new();
        for (index, part) in self.pick(FRAMES).split('@').enumerate() {
            if index > 0 {
                let put_in = if depth > 0 && self.next(4) == 0 {
                    self.commands(depth - 1)
                } else {
                    self.command()
                };
                script.push_str(&put_in);
            }
            script.push_str(part);
        }
        script
    }

    fn command(&mut self) -> String {
        let mut command = self.pick(COMMANDS).to_owned();
        for _ in 0..self.next(4) {
            command.push(' ');
            command.push_str(self.pick(ARGUMENTS));
        }
        match command.split(' ').next() {
            Some("[") if self.next(8) > 0 => command.push_str(" ]"),
            Some("[[") if self.next(8) > 0 => command.push_str(" ]]"),
            _ => {}
        }
        command
    }

    fn mutate(&mut self, script: &mut String) {
        let boundaries: Vec<usize> = script
            .char_indices()
            .map(|(at, _)| at)
            .chain([script.len()])
            .collect();
        let (from, to) = (
            boundaries[self.next(boundaries.len())],
            boundaries[self.next(boundaries.len())],
        );
        match self.next(4) {
            0 => script.insert_str(from, self.pick(PIECES)),
            1 if from < script.len() => {
                script.remove(from);
            }
            2 if from < to && to - from < 12 => script.replace_range(from..to, self.pick(PIECES)),
            _ => {
                let piece = script[from.min(to)..from.max(to)].to_owned();
                script.insert_str(to, &piece);
            }
        }
    }
}
