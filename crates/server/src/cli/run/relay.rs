//! Between the command and this process: events out, input and signals in, until the command is over.

use std::future::pending;
use std::io;
use std::time::Duration;

use exec_client::{Client, Closed, ProcessEvent, ProcessEvents};
use exec_protocol::ProcessId;
use exec_protocol::limits::{RUN_CLOSE_MS, RUN_LINGER_MS, RUN_OUTPUT_STALL_MS, RUN_SIGNAL_MS};
use exec_protocol::process::ExitedNotification;
use rustix::process::{Signal, getpid, kill_process};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use super::arguments::Args;
use super::exit::{BROKEN_PIPE, SIGNAL_EXIT, TIMED_OUT, exit_code, remark};
use super::failure::Failure;
use super::leader::Leader;
use super::output::{Chunks, Output};
use super::signals::{Caught, Meaning, Signals};
use super::stdin;
use super::terminal::{self, RawTerminal};
use crate::cli::speaker::Speaker;

/// How far the command is.
#[derive(Debug, Clone, Copy)]
enum Stage {
    Running,
    /// The command exited; something still holds its output open.
    Exited {
        code: u8,
        linger_until: Instant,
    },
    /// What held it open is being ended.
    Ending {
        code: u8,
        until: Instant,
    },
}

/// A command that was started.
pub(super) struct Started {
    pub(super) leader: Leader,
    /// When its time limit ends it, at the earliest.
    pub(super) deadline: Option<Instant>,
    pub(super) events: ProcessEvents,
}

/// A running command.
pub(super) struct Relay {
    client: Client,
    process_id: ProcessId,
    leader: Leader,
    /// When its process was seen to have ended.
    ended: Option<Instant>,
    deadline: Option<Instant>,
    /// The command has a terminal.
    has_terminal: bool,
    /// And so has this process, in raw mode.
    terminal: Option<RawTerminal>,
    feeder: Option<JoinHandle<()>>,
    stage: Stage,
    /// The first signal that was to end this process, and when it came.
    asked_to_end: Option<(Caught, Instant)>,
}

impl Drop for Relay {
    fn drop(&mut self) {
        if let Some(feeder) = &self.feeder {
            feeder.abort();
        }
    }
}

impl Relay {
    /// Passes everything through until the command is over and its output written; the exit code to pass on.
    pub(super) async fn run(
        arguments: &Args,
        client: Client,
        command: Started,
        mut signals: Signals,
    ) -> Result<u8, Failure> {
        let Started {
            leader,
            deadline,
            mut events,
        } = command;
        let mut output = Output::start().map_err(Failure::Thread)?;
        let mut relay = Self {
            client,
            process_id: events.process_id().clone(),
            leader,
            ended: None,
            deadline,
            has_terminal: arguments.is_terminal(),
            terminal: None,
            feeder: None,
            stage: Stage::Running,
            asked_to_end: None,
        };
        if arguments.reads_stdin() {
            relay.attach_stdin()?;
        }
        let mut last_progress = Instant::now();
        let code = loop {
            tokio::select! {
                event = next_event(&output.chunks, &mut events) => {
                    last_progress = Instant::now();
                    match event {
                        Err(why) => return Err(Failure::DaemonEnded(why)),
                        Ok(Some(ProcessEvent::Output(event))) => output.chunks.push(event.stream, event.chunk.0),
                        Ok(Some(ProcessEvent::Exited(exited))) => relay.exited(&exited),
                        Ok(Some(ProcessEvent::Closed(_) | ProcessEvent::TreeEnded) | None) => break relay.code(),
                    }
                }
                error = output.end.failure() => return relay.output_failed(error).await,
                signal = signals.next() => if let Some(code) = relay.signaled(signal).await {
                    return Ok(code);
                },
                () = relay.leader.ended(), if relay.ended.is_none() => relay.ended = Some(Instant::now()),
                code = relay.abandoned(last_progress), if output.chunks.are_held_up() => {
                    // The last reader may have come back to what was all there is for now.
                    if output.chunks.are_held_up() {
                        return Ok(give_up(code));
                    }
                    last_progress = Instant::now();
                }
                () = reached(relay.stage) => if let Some(code) = relay.advance() {
                    break code;
                },
            }
        };
        let last_progress = Instant::now();
        let mut finishing = std::pin::pin!(output.finish());
        loop {
            tokio::select! {
                code = relay.abandoned(last_progress) => return Ok(give_up(code)),
                result = &mut finishing => return match result {
                    Ok(()) => Ok(code),
                    Err(error) => relay.output_failed(error).await,
                },
                signal = signals.next() => if let Some(code) = relay.signaled(signal).await {
                    return Ok(code);
                },
            }
        }
    }

    fn attach_stdin(&mut self) -> Result<(), Failure> {
        if self.has_terminal {
            self.terminal = RawTerminal::enter().map_err(Failure::Terminal)?;
        }
        let chunks = stdin::read().map_err(Failure::Thread)?;
        let (client, process_id) = (self.client.clone(), self.process_id.clone());
        let feeding = stdin::feed(client, process_id, self.has_terminal, chunks);
        self.feeder = Some(tokio::spawn(feeding));
        Ok(())
    }

    fn exited(&mut self, exited: &ExitedNotification) {
        if let Some(remark) = remark(exited) {
            Speaker::Run.says(remark);
        }
        self.ended.get_or_insert_with(Instant::now);
        self.stage = Stage::Exited {
            code: exit_code(exited),
            linger_until: Instant::now() + Duration::from_millis(RUN_LINGER_MS),
        };
    }

    /// The command's exit code. A daemon says `exited` before `closed`; from one that does not, none is known.
    fn code(&self) -> u8 {
        match self.stage {
            Stage::Running => u8::MAX,
            Stage::Exited { code, .. } | Stage::Ending { code, .. } => code,
        }
    }

    /// The time of a stage is over. The exit code, when nothing more is waited for.
    fn advance(&mut self) -> Option<u8> {
        match self.stage {
            Stage::Running => None,
            Stage::Exited { code, .. } => {
                let (client, process_id) = (self.client.clone(), self.process_id.clone());
                // Its answer is the end of the output.
                tokio::spawn(async move { client.terminate(&process_id, None).await });
                self.stage = Stage::Ending {
                    code,
                    until: Instant::now() + Duration::from_millis(RUN_CLOSE_MS),
                };
                None
            }
            Stage::Ending { code, .. } => Some(code),
        }
    }

    /// Nobody reads what the command prints: it gets SIGPIPE, as it would from its own next write, and ends
    /// with the daemon at the latest.
    async fn output_failed(&self, error: io::Error) -> Result<u8, Failure> {
        if error.kind() != io::ErrorKind::BrokenPipe {
            return Err(Failure::Output(error));
        }
        let _ = timeout(
            Duration::from_millis(RUN_SIGNAL_MS),
            self.client.signal(&self.process_id, "SIGPIPE"),
        )
        .await;
        Ok(BROKEN_PIPE)
    }

    /// Waits for the moment at which output that nobody takes is given up: the command is over, and not only it was to
    /// end. The exit code. Cancel-safe.
    async fn abandoned(&self, last_progress: Instant) -> u8 {
        let Some(ended) = self.ended else {
            return pending().await;
        };
        let (since, code) = match (self.asked_to_end, self.deadline) {
            // At the keyboard they end a pipeline whose last program, a pager, may take its time: there a second
            // one says that it is meant.
            (Some((signal, came)), _) if !matches!(signal.name, "SIGINT" | "SIGQUIT") => {
                (came, SIGNAL_EXIT + signal.number)
            }
            (_, Some(deadline)) if ended >= deadline => (deadline, TIMED_OUT),
            _ => return pending().await,
        };
        sleep_until(since.max(ended).max(last_progress) + Duration::from_millis(RUN_OUTPUT_STALL_MS)).await;
        match self.stage {
            Stage::Running => code,
            Stage::Exited { code, .. } | Stage::Ending { code, .. } => code,
        }
    }

    /// Does what a signal to this process means. The exit code, when it means the end of it.
    async fn signaled(&mut self, signal: Caught) -> Option<u8> {
        match signal.meaning {
            Meaning::End => {
                let is_over = match self.stage {
                    // One that is held up by its output cannot say so. The first signal leaves it the time to.
                    Stage::Running => self.asked_to_end.is_some() && self.leader.has_ended(),
                    Stage::Exited { .. } | Stage::Ending { .. } => true,
                };
                if is_over {
                    // Nothing is left to pass it to.
                    return Some(SIGNAL_EXIT + signal.number);
                }
                self.asked_to_end.get_or_insert((signal, Instant::now()));
                self.pass_on(signal.name);
            }
            Meaning::PassOn => self.pass_on(signal.name),
            Meaning::Resize => self.resize(),
            Meaning::Stop => {
                // Not SIGTSTP: the command leads a session of its own, where that stops nobody.
                let stopping = self.client.signal(&self.process_id, "SIGSTOP");
                let _ = timeout(Duration::from_millis(RUN_SIGNAL_MS), stopping).await;
                if let Some(terminal) = &self.terminal {
                    terminal.suspend();
                }
                // This process exists. It goes on from here when it is continued, with that signal to come.
                let _ = kill_process(getpid(), Signal::STOP);
            }
            Meaning::Continue => {
                if let Some(terminal) = &self.terminal {
                    // A terminal that hung up is told by its end of file.
                    let _ = terminal.make_raw();
                }
                self.resize();
                self.pass_on(signal.name);
            }
        }
        None
    }

    /// Sends a signal without waiting for the answer; signals leave in the order they came.
    fn pass_on(&self, name: &'static str) {
        let (client, process_id) = (self.client.clone(), self.process_id.clone());
        tokio::spawn(async move { client.signal(&process_id, name).await });
    }

    fn resize(&self) {
        if let (true, Some(size)) = (self.has_terminal, terminal::size()) {
            let (client, process_id) = (self.client.clone(), self.process_id.clone());
            tokio::spawn(async move { client.resize(&process_id, size).await });
        }
    }
}

/// Says that output is lost.
fn give_up(code: u8) -> u8 {
    Speaker::Run.says("output that nobody read was dropped");
    code
}

/// The next event, once there is room for what it may hold. Cancel-safe.
async fn next_event(chunks: &Chunks, events: &mut ProcessEvents) -> Result<Option<ProcessEvent>, Closed> {
    chunks.room().await;
    events.next().await
}

/// The end of a stage's time.
async fn reached(stage: Stage) {
    match stage {
        Stage::Running => pending().await,
        Stage::Exited { linger_until, .. } => sleep_until(linger_until).await,
        Stage::Ending { until, .. } => sleep_until(until).await,
    }
}
