//! A process's notifications as lines, written straight into the outgoing buffer.

use exec_process::{Notification, Process};
use exec_protocol::envelope::write;
use exec_protocol::method::{self, Notification as Method};
use exec_protocol::milliseconds;
use exec_protocol::process::{ClosedNotification, ExitedNotification, TreeEndedNotification};

use super::queue::{Source, Turn};

impl Source for Process {
    fn write_next(&self, out: &mut Vec<u8>, tree_ended: bool) -> Turn {
        loop {
            match self.next_notification() {
                None => return Turn::Silent,
                // Asked for in `initialize`, or not told.
                Some(Notification::TreeEnded) if !tree_ended => {}
                Some(notification) => {
                    write_line(out, self, notification);
                    return Turn::Spoke;
                }
            }
        }
    }
}

fn write_line(out: &mut Vec<u8>, process: &Process, notification: Notification) {
    let id = process.id();
    let written = match notification {
        Notification::Output {
            seq,
            stream,
            offset,
            bytes,
        } => {
            write::output(out, id, seq, stream, offset, &bytes);
            Ok(())
        }
        Notification::Exited {
            seq,
            exit_code,
            signal,
            cause,
            duration,
            usage,
        } => {
            let params = ExitedNotification {
                process_id: id.clone(),
                seq,
                exit_code,
                sandbox_denied: false,
                signal: signal.map(exec_process::Signal::name),
                cause: Some(cause),
                timed_out: cause.timed_out(),
                duration_ms: Some(milliseconds::floor(duration)),
                usage,
            };
            write::notification(out, method::Exited::NAME, &params, None)
        }
        Notification::Closed {
            seq,
            output_bytes,
            tree,
        } => {
            let params = ClosedNotification {
                process_id: id.clone(),
                seq,
                output_bytes: Some(output_bytes),
                // A client may look for it. What is read is sent: a client that does not read slows the child down.
                dropped_bytes: Some(0),
                tree: Some(tree),
            };
            write::notification(out, method::Closed::NAME, &params, None)
        }
        Notification::TreeEnded => {
            let params = TreeEndedNotification {
                process_id: id.clone(),
            };
            write::notification(out, method::TreeEnded::NAME, &params, None)
        }
    };
    match written {
        Ok(()) => out.push(b'\n'),
        // Numbers, words and a str: there is nothing in them that JSON cannot say.
        Err(error) => tracing::error!(%error, "a notification could not be written"),
    }
}
