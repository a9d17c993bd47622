# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_exec_server_global_optspecs
    string join \n listen= log-format= log= cgroup= no-watch-parent metrics-listen= metrics-allow-remote otlp= h/help V/version
end

function __fish_exec_server_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_exec_server_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_exec_server_using_subcommand
    set -l cmd (__fish_exec_server_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c exec-server -n "__fish_exec_server_needs_command" -l listen -d 'Where the client is' -r -f -a "stdio\t'On stdin and stdout'"
complete -c exec-server -n "__fish_exec_server_needs_command" -l log-format -d 'How log lines on stderr look' -r -f -a "text\t'For people'
json\t'One JSON object a line'"
complete -c exec-server -n "__fish_exec_server_needs_command" -l log -d 'What is logged on stderr, in place of what RUST_LOG says' -r
complete -c exec-server -n "__fish_exec_server_needs_command" -l cgroup -d 'Whether a command gets a cgroup of its own' -r -f -a "auto\t'Where one is writable'
off\t'Never'"
complete -c exec-server -n "__fish_exec_server_needs_command" -l metrics-listen -d 'Where metrics can be scraped: an IP address and port, unix:PATH, or off' -r
complete -c exec-server -n "__fish_exec_server_needs_command" -l otlp -d 'Whether metrics and traces are pushed to an OTLP collector' -r -f -a "on\t'To the endpoint that variables name, or the standard one on this machine'
auto\t'Where a variable names an endpoint'
off\t'Never'"
complete -c exec-server -n "__fish_exec_server_needs_command" -l no-watch-parent -d 'Live on when the process that started the daemon ends'
complete -c exec-server -n "__fish_exec_server_needs_command" -l metrics-allow-remote -d 'Let --metrics-listen be an address that other machines reach'
complete -c exec-server -n "__fish_exec_server_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c exec-server -n "__fish_exec_server_needs_command" -s V -l version -d 'Print version'
complete -c exec-server -n "__fish_exec_server_needs_command" -f -a "run" -d 'Run one command, through a daemon of its own'
complete -c exec-server -n "__fish_exec_server_needs_command" -f -a "snapshot" -d 'Show what a snapshot of your shell holds, or why there is none'
complete -c exec-server -n "__fish_exec_server_using_subcommand run" -l timeout -d 'End the command and everything it started after so many seconds, such as 10 or 0.5' -r -f
complete -c exec-server -n "__fish_exec_server_using_subcommand run" -l cwd -d 'Run in this directory' -r -f -a "(__fish_complete_directories)"
complete -c exec-server -n "__fish_exec_server_using_subcommand run" -l env -d 'Set a variable on top of the environment here; may be repeated' -r -f
complete -c exec-server -n "__fish_exec_server_using_subcommand run" -s s -l snapshot -d 'Run it in your shell, with the functions, aliases, options and variables of your startup files' -r -f -a "(__fish_complete_command)"
complete -c exec-server -n "__fish_exec_server_using_subcommand run" -s t -l tty -d 'Give the command a terminal'
complete -c exec-server -n "__fish_exec_server_using_subcommand run" -s n -l no-stdin -d 'Do not read standard input: the command finds its own at end of file'
complete -c exec-server -n "__fish_exec_server_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c exec-server -n "__fish_exec_server_using_subcommand snapshot" -l shell -d 'Whose state: bash, zsh, fish, sh, or a path of one; without it, your own shell\'s' -r -f -a "(__fish_complete_command)"
complete -c exec-server -n "__fish_exec_server_using_subcommand snapshot" -l cwd -d 'Capture in this directory' -r -f -a "(__fish_complete_directories)"
complete -c exec-server -n "__fish_exec_server_using_subcommand snapshot" -s p -l profile -d 'Tell which startup file takes how long (bash and zsh)'
complete -c exec-server -n "__fish_exec_server_using_subcommand snapshot" -l json -d 'Print one JSON object'
complete -c exec-server -n "__fish_exec_server_using_subcommand snapshot" -s h -l help -d 'Print help (see more with \'--help\')'
