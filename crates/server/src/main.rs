//! exec-server.
mod run;

#[derive(Debug, clap::Parser)]
enum Cli {
    Run(run::Arguments),
}

fn main() -> std::process::ExitCode {
    let Cli::Run(arguments) = clap::Parser::parse();
    run::main(&arguments)
}
