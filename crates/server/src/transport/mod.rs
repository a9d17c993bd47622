//! Lines in on stdin, lines out on stdout, and when to take either for gone.

pub(crate) mod descriptor;
pub(crate) mod hangup;
pub(crate) mod line_buffer;
pub(crate) mod stdin;
pub(crate) mod stdout;
