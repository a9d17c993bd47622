//! `fs/*`: files.
