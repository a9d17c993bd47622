//! A cgroup v2 for each live command: where they can be, the directory they are in, and one of them.

mod command;
mod location;
mod root;

pub(super) use command::Cgroup;
pub(super) use location::own_cgroup;
pub(super) use root::{CgroupRoot, remove_after_loss};
