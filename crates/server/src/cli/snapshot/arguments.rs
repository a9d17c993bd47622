//! The command line of `exec-server snapshot`.

use std::path::PathBuf;

use clap::ValueHint;
use exec_protocol::PathUri;

use super::failure::Failure;

/// What `exec-server snapshot --help` says after the options.
pub(crate) const EXIT_STATUS: &str = "\
Exit status:
  0    there is a snapshot
  1    the capture failed
  125  it could not be tried";

/// The options of `exec-server snapshot`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Whose state: bash, zsh, fish, sh, or a path of one; without it, your own shell's
    #[arg(long, value_name = "SHELL", value_hint = ValueHint::CommandName)]
    pub(super) shell: Option<String>,
    /// Capture in this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cwd: Option<PathBuf>,
    /// Tell which startup file takes how long (bash and zsh)
    ///
    /// The startup files run a second time for that, traced: what they do besides starting a shell, they do twice.
    #[arg(short, long)]
    pub(super) profile: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

impl Args {
    pub(super) fn working_directory(&self) -> Result<PathUri, Failure> {
        let here = std::env::current_dir().map_err(Failure::CurrentDirectory)?;
        let path = match &self.cwd {
            Some(folder) => here.join(folder),
            None => here,
        };
        if !path.is_dir() {
            return Err(Failure::NoDirectory(path));
        }
        PathUri::from_path(&path).ok_or(Failure::NoDirectory(path))
    }
}
