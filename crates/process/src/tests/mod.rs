//! Processes with a warden that the test plays: it keeps the child's ends of the streams and reports what it likes.

mod feeding;
mod hidden;
mod life;
mod output;
mod reserving;
mod stage;
mod timing;
mod waiting;
