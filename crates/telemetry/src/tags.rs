//! The tags of metrics and spans: closed sets. What is not in one of them cannot be recorded.

use opentelemetry::KeyValue;

/// One tag: a key, and the values it may have.
pub trait Tag: Copy {
    /// Its key, as TELEMETRY names it.
    const KEY: &'static str;
    /// All its values.
    const VALUES: &'static [&'static str];
    /// This one.
    fn value(self) -> &'static str;
    /// Key and value.
    fn pair(self) -> KeyValue {
        KeyValue::new(Self::KEY, self.value())
    }
}

macro_rules! tags {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident = $key:literal { $($(#[doc = $variant_doc:literal])+ $variant:ident = $value:literal,)+ }
    )+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[doc = $variant_doc])+ $variant,)+ }

        impl Tag for $name {
            const KEY: &'static str = $key;
            const VALUES: &'static [&'static str] = &[$($value),+];
            fn value(self) -> &'static str {
                match self { $(Self::$variant => $value,)+ }
            }
        }

        impl $name {
            /// Every one of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
        }
    )+};
}

tags! {
    /// The form of the snapshot feature; another form would be another version.
    SnapshotVersion = "version" {
        /// The present one.
        V2 = "v2",
    }
    /// Whether a capture yielded a snapshot.
    Success = "success" {
        /// It did.
        True = "true",
        /// It did not.
        False = "false",
    }
    /// What a capture was made for.
    Purpose = "purpose" {
        /// A command that waits for it.
        Execution = "execution",
        /// `shellSnapshot/prewarm`.
        Prewarm = "prewarm",
    }
    /// Which attempt at a capture it was.
    Attempt = "attempt" {
        /// The first.
        First = "1",
        /// The second.
        Second = "2",
        /// The last.
        Third = "3",
    }
    /// The kind of shell.
    ShellKind = "shell" {
        /// bash.
        Bash = "bash",
        /// zsh.
        Zsh = "zsh",
        /// A POSIX shell: dash, busybox, mksh, or bash behind that name.
        Sh = "sh",
        /// fish.
        Fish = "fish",
    }
    /// The sandbox a capture ran in.
    SandboxKind = "sandbox" {
        /// None.
        None = "none",
        /// The Linux sandbox.
        Seccomp = "seccomp",
    }
    /// Why a capture failed.
    FailureReason = "failure_reason" {
        /// No dialect for that shell.
        UnsupportedShell = "unsupported_shell",
        /// There was no command to capture for.
        MissingCommand = "missing_command",
        /// The shell could not be started.
        SpawnFailed = "spawn_failed",
        /// The shell ended without its state.
        MissingOutput = "missing_output",
        /// The state could not be read.
        ReadFailed = "read_failed",
        /// More was written than a capture may be.
        CaptureTooLarge = "capture_too_large",
        /// How the shell ended could not be learned.
        WaitFailed = "wait_failed",
        /// A startup file ended the shell with an error.
        NonzeroExit = "nonzero_exit",
        /// The startup files did not come to an end in time.
        Timeout = "timeout",
        /// What was written is not a state.
        InvalidCapture = "invalid_capture",
        /// The environment is larger than a snapshot may hold.
        EnvironmentTooLarge = "environment_too_large",
        /// The state is larger than a snapshot may hold.
        StateTooLarge = "state_too_large",
    }
    /// What a command found when it asked for its snapshot.
    Availability = "availability" {
        /// A prewarm had made it.
        PrewarmReady = "prewarm_ready",
        /// A prewarm was making it.
        PrewarmPending = "prewarm_pending",
        /// An earlier command had made it.
        CacheHit = "cache_hit",
        /// Another command was making it.
        CapturePending = "capture_pending",
        /// Nothing: this command had it made.
        OnDemand = "on_demand",
        /// It could not be had.
        Unavailable = "unavailable",
    }
    /// Whether a command ran with its snapshot.
    Outcome = "outcome" {
        /// It did.
        Used = "used",
        /// It ran as a command without one does.
        Fallback = "fallback",
    }
    /// A request's method. What is not in the protocol's catalogue is `other`.
    Method = "method" {
        /// `initialize`.
        Initialize = "initialize",
        /// `environment/info`.
        EnvironmentInfo = "environment/info",
        /// `environment/status`.
        EnvironmentStatus = "environment/status",
        /// `environmentConfig/read`.
        EnvironmentConfigRead = "environmentConfig/read",
        /// `process/start`.
        ProcessStart = "process/start",
        /// `process/read`.
        ProcessRead = "process/read",
        /// `process/write`.
        ProcessWrite = "process/write",
        /// `process/closeStdin`.
        ProcessCloseStdin = "process/closeStdin",
        /// `process/resize`.
        ProcessResize = "process/resize",
        /// `process/signal`.
        ProcessSignal = "process/signal",
        /// `process/terminate`.
        ProcessTerminate = "process/terminate",
        /// `process/list`.
        ProcessList = "process/list",
        /// `process/wait`.
        ProcessWait = "process/wait",
        /// `shellSnapshot/prewarm`.
        SnapshotPrewarm = "shellSnapshot/prewarm",
        /// `shellSnapshot/describe`.
        SnapshotDescribe = "shellSnapshot/describe",
        /// `shellSnapshot/invalidate`.
        SnapshotInvalidate = "shellSnapshot/invalidate",
        /// `fs/getMetadata`.
        FsGetMetadata = "fs/getMetadata",
        /// `fs/readFile`.
        FsReadFile = "fs/readFile",
        /// `fs/writeFile`.
        FsWriteFile = "fs/writeFile",
        /// `fs/createDirectory`.
        FsCreateDirectory = "fs/createDirectory",
        /// `fs/readDirectory`.
        FsReadDirectory = "fs/readDirectory",
        /// `fs/canonicalize`.
        FsCanonicalize = "fs/canonicalize",
        /// `fs/walk`.
        FsWalk = "fs/walk",
        /// `fs/remove`.
        FsRemove = "fs/remove",
        /// `fs/copy`.
        FsCopy = "fs/copy",
        /// `fs/open`.
        FsOpen = "fs/open",
        /// `fs/readBlock`.
        FsReadBlock = "fs/readBlock",
        /// `fs/writeBlock`.
        FsWriteBlock = "fs/writeBlock",
        /// `fs/close`.
        FsClose = "fs/close",
        /// `fs/watchMissing`.
        FsWatchMissing = "fs/watchMissing",
        /// A method of that name is not known, or the message is no request at all.
        Other = "other",
    }
    /// How a request was answered.
    RequestResult = "result" {
        /// With a result.
        Success = "success",
        /// With an error.
        Error = "error",
    }
    /// What a connection is made of.
    Transport = "transport" {
        /// stdin and stdout.
        Stdio = "stdio",
    }
    /// What became of a connection that was asked for.
    ConnectionResult = "result" {
        /// It was accepted.
        Accepted = "accepted",
    }
    /// How a process ended.
    ProcessResult = "result" {
        /// With exit status 0.
        Success = "success",
        /// With another, by a signal, or nobody knows how.
        Error = "error",
    }
    /// Where output came from.
    Stream = "stream" {
        /// Standard output, on a pipe.
        Stdout = "stdout",
        /// Standard error, on a pipe.
        Stderr = "stderr",
        /// A terminal.
        Pty = "pty",
    }
    /// What a sandbox is made with.
    SandboxBackend = "backend" {
        /// User and mount namespaces, Landlock and seccomp.
        Namespaces = "namespaces",
        /// The system's bwrap.
        Bwrap = "bwrap",
        /// Landlock and seccomp, without namespaces.
        Landlock = "landlock",
        /// seccomp alone.
        Seccomp = "seccomp",
    }
    /// Whether a sandbox could be prepared.
    SandboxOutcome = "outcome" {
        /// It could, in full.
        Prepared = "prepared",
        /// It could not, and the command was refused.
        Refused = "refused",
    }
    /// Why a user was asked.
    ApprovalReason = "reason" {
        /// Before the command ran.
        Initial = "initial",
        /// After the sandbox had denied it something.
        SandboxDenied = "sandbox_denied",
    }
    /// What the user answered.
    ApprovalDecision = "decision" {
        /// This once.
        Approved = "approved",
        /// For the rest of the session.
        ApprovedForSession = "approved_for_session",
        /// And whatever begins with the same words.
        ApprovedWithPrefixRule = "approved_with_prefix_rule",
        /// No.
        Denied = "denied",
        /// No, and nothing more.
        Abort = "abort",
    }
}

impl Method {
    /// The method of that name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let known = Self::ALL.iter().find(|method| method.value() == name);
        known.copied().unwrap_or(Self::Other)
    }
}

impl Attempt {
    /// The attempt of that number; what comes after the last counts as the last.
    #[must_use]
    pub fn numbered(number: u32) -> Self {
        match number {
            0 | 1 => Self::First,
            2 => Self::Second,
            _ => Self::Third,
        }
    }
}

impl From<bool> for Success {
    fn from(success: bool) -> Self {
        if success { Self::True } else { Self::False }
    }
}

impl RequestResult {
    /// `success` where it is.
    #[must_use]
    pub fn of(success: bool) -> Self {
        if success { Self::Success } else { Self::Error }
    }
}

impl ProcessResult {
    /// `success` for exit status 0.
    #[must_use]
    pub fn of(exit_code: i32) -> Self {
        match exit_code {
            0 => Self::Success,
            _ => Self::Error,
        }
    }
}

/// `state`: the same as [`Availability`], under the key that dashboards made for another server know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State(pub(crate) Availability);

impl Tag for State {
    const KEY: &'static str = "state";
    const VALUES: &'static [&'static str] = Availability::VALUES;
    fn value(self) -> &'static str {
        self.0.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_method_is_other() {
        assert_eq!(Method::named("process/start"), Method::ProcessStart);
        for name in ["", "Process/start", "process/start ", "rm -rf /", "other"] {
            assert_eq!(Method::named(name), Method::Other, "{name}");
        }
    }

    #[test]
    fn attempts_are_three() {
        let values = [0, 1, 2, 3, 4, u32::MAX].map(|number| Attempt::numbered(number).value());
        assert_eq!(values, ["1", "1", "2", "3", "3", "3"]);
    }
}
