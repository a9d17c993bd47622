//! Captures and replays with the real zsh: a table of startup files, what a command says, and what it must say.
//!
//! Without a zsh these tests fail, unless `EXEC_SERVER_TESTS_WITHOUT_ZSH` says that this is known.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use exec_process::environment::Environment;

use super::Zsh;
use crate::dialect::{Dialect, Try};
use crate::sections::{Frame, Sections};
use crate::state::{Captured, State, Transport};
