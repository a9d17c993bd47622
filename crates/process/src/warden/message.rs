//! What daemon and warden say to each other.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use exec_protocol::environment::TreeTracking;
use exec_protocol::limits::MAX_INHERITED;
use exec_protocol::milliseconds;
use exec_protocol::process::{Enforcement, Enforces, ResourceLimits};

use super::error::WardenStep;
use super::launch::Launch;
use super::report::{FailedStep, LaunchFailure};
use super::wire::{Fields, Frame, FrameBuilder, Malformed};
use crate::command::INHERITED_NUMBERS;
use crate::sys::COMM_BYTES;
use crate::sys_spawn::Strings;

const LAUNCH: u8 = 1;
const SIGNAL: u8 = 2;
const END: u8 = 3;
const LEAVE: u8 = 4;
const HELLO: u8 = 16;
const STARTED: u8 = 17;
const FAILED: u8 = 18;
const EXITED: u8 = 19;
const TREE_ENDED: u8 = 20;
const UNFIT: u8 = 21;

const TERMINAL: u8 = 1;
const HAS_STDIN: u8 = 2;
const HAS_OUTPUT: u8 = 4;

/// A command to start, as the warden got it.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) id: u64,
    pub(super) terminal: bool,
    pub(super) limits: ResourceLimits,
    pub(super) strings: Strings,
    pub(super) stdin: Option<OwnedFd>,
    pub(super) output: Option<(OwnedFd, OwnedFd)>,
    /// Numbers in the child, and what they are.
    pub(super) inherited: Vec<(i32, OwnedFd)>,
}

/// From the daemon.
#[derive(Debug)]
pub(super) enum Request {
    Launch(Box<Order>),
    /// A launch whose descriptors were lost on the way.
    Stripped(u64),
    Signal {
        id: u64,
        signal: i32,
    },
    End {
        id: u64,
        signal: i32,
        grace: Duration,
    },
    Leave {
        id: u64,
    },
}

/// The frame of a launch and its descriptors. `None`: too long for any execve(2).
pub(super) fn launch(launch: Launch) -> Option<(Vec<u8>, Vec<Arc<OwnedFd>>)> {
    let mut flags = if launch.terminal { TERMINAL } else { 0 };
    let mut descriptors = Vec::with_capacity(3 + launch.inherited.len());
    if let Some(stdin) = launch.stdin {
        flags |= HAS_STDIN;
        descriptors.push(Arc::new(stdin));
    }
    if let Some((stdout, stderr)) = launch.output {
        flags |= HAS_OUTPUT;
        descriptors.extend([Arc::new(stdout), Arc::new(stderr)]);
    }
    let inherited = launch.inherited.iter().map(|one| Arc::clone(&one.descriptor));
    descriptors.extend(inherited);
    let count = |list: &[std::ffi::CString]| u32::try_from(list.len()).ok();
    let limit = |value: Option<u64>| value.unwrap_or(0);
    let mut frame = FrameBuilder::new(LAUNCH, descriptors.len() as u8)
        .u64(launch.id.0)
        .u8(flags)
        .u64(limit(launch.limits.memory_bytes))
        .u64(limit(launch.limits.cpu_seconds))
        .u64(limit(launch.limits.processes))
        .u64(limit(launch.limits.open_files))
        .u32(count(&launch.programs)?)
        .u32(count(&launch.argv)?)
        .u32(count(&launch.environment)?)
        .u8(u8::try_from(launch.inherited.len()).ok()?);
    for one in &launch.inherited {
        frame = frame.i32(one.number);
    }
    let strings = launch
        .programs
        .iter()
        .chain(&launch.argv)
        .chain(&launch.environment);
    for string in strings.chain(std::iter::once(&launch.cwd)) {
        frame = frame.bytes(string.as_bytes_with_nul());
    }
    Some((frame.finish()?, descriptors))
}

/// The id of a launch frame, to say that it could not be sent.
pub(super) fn launch_id(frame: &[u8]) -> Option<u64> {
    (*frame.get(4)? == LAUNCH).then(|| Fields::new(frame.get(6..)?).u64())?
}

pub(super) fn signal(id: u64, signal: i32) -> Option<Vec<u8>> {
    FrameBuilder::new(SIGNAL, 0).u64(id).i32(signal).finish()
}

pub(super) fn end(id: u64, signal: i32, grace: Duration) -> Option<Vec<u8>> {
    FrameBuilder::new(END, 0)
        .u64(id)
        .i32(signal)
        .u64(milliseconds::floor(grace))
        .finish()
}

pub(super) fn leave(id: u64) -> Option<Vec<u8>> {
    FrameBuilder::new(LEAVE, 0).u64(id).finish()
}

impl Request {
    pub(super) fn decode(frame: Frame) -> Result<Self, Malformed> {
        Self::read(frame).ok_or(Malformed)
    }

    fn read(frame: Frame) -> Option<Self> {
        let mut fields = Fields::new(&frame.body);
        let id = fields.u64()?;
        match frame.kind {
            LAUNCH => {
                let Ok(descriptors) = frame.descriptors else {
                    return Some(Self::Stripped(id));
                };
                let flags = fields.u8()?;
                let mut limit = || fields.u64().map(|value| (value > 0).then_some(value));
                let limits = ResourceLimits {
                    memory_bytes: limit()?,
                    cpu_seconds: limit()?,
                    processes: limit()?,
                    open_files: limit()?,
                };
                let (programs, argv, environment) = (fields.u32()?, fields.u32()?, fields.u32()?);
                let count = usize::from(fields.u8()?);
                let numbers = (0..count).map(|_| fields.i32()).collect::<Option<Vec<i32>>>()?;
                let fit = |number: &i32| INHERITED_NUMBERS.contains(number);
                if count > MAX_INHERITED || !numbers.iter().all(fit) {
                    return None;
                }
                let from = fields.position();
                let strings = Strings::parse(
                    frame.body,
                    from,
                    programs as usize,
                    argv as usize,
                    environment as usize,
                )?;
                // 0–2 are the warden's own /dev/null; a received descriptor is above.
                if descriptors.iter().any(|fd| fd.as_raw_fd() < 3) {
                    return None;
                }
                let mut descriptors = descriptors.into_iter();
                let stdin = if flags & HAS_STDIN != 0 {
                    Some(descriptors.next()?)
                } else {
                    None
                };
                let output = if flags & HAS_OUTPUT != 0 {
                    Some((descriptors.next()?, descriptors.next()?))
                } else {
                    None
                };
                let inherited: Vec<(i32, OwnedFd)> = numbers.into_iter().zip(descriptors).collect();
                if inherited.len() != count {
                    return None;
                }
                let terminal = flags & TERMINAL != 0;
                Some(Self::Launch(Box::new(Order {
                    id,
                    terminal,
                    limits,
                    strings,
                    stdin,
                    output,
                    inherited,
                })))
            }
            SIGNAL => Some(Self::Signal {
                id,
                signal: fields.i32()?,
            }),
            END => Some(Self::End {
                id,
                signal: fields.i32()?,
                grace: Duration::from_millis(fields.u64()?),
            }),
            LEAVE => Some(Self::Leave { id }),
            _ => None,
        }
    }
}

/// From the warden. Times are CLOCK_MONOTONIC, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    Hello {
        tracking: TreeTracking,
        enforces: Enforces,
    },
    Started {
        id: u64,
        pid: i32,
        at: u64,
    },
    Failed {
        id: u64,
        failure: LaunchFailure,
    },
    Exited(ExitReport),
    TreeEnded {
        id: u64,
    },
    /// Instead of the hello: there will be no warden.
    Unfit {
        step: WardenStep,
        errno: i32,
    },
}

/// How a leader ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExitReport {
    pub(super) id: u64,
    /// Wait status.
    pub(super) status: i32,
    pub(super) at: u64,
    /// Microseconds; `None`: unknown.
    pub(super) cpu: Option<(u64, u64)>,
    pub(super) max_rss_kib: u64,
    pub(super) out_of_memory: bool,
    pub(super) tree_ended: bool,
    /// As [`crate::sys::comm`] has it.
    pub(super) comm: [u8; COMM_BYTES],
}

/// The two halves.
fn exit_comm(comm: [u8; COMM_BYTES]) -> (u64, u64) {
    let whole = u128::from_le_bytes(comm);
    (whole as u64, (whole >> 64) as u64)
}

fn enforcement_code(value: Option<Enforcement>) -> u8 {
    match value {
        None => 0,
        Some(Enforcement::Cgroup) => 1,
        Some(Enforcement::Rlimit) => 2,
    }
}

fn enforcement(code: u8) -> Option<Option<Enforcement>> {
    match code {
        0 => Some(None),
        1 => Some(Some(Enforcement::Cgroup)),
        2 => Some(Some(Enforcement::Rlimit)),
        _ => None,
    }
}

impl Report {
    pub(super) fn encode(&self) -> Vec<u8> {
        let frame = match *self {
            Self::Hello { tracking, enforces } => FrameBuilder::new(HELLO, 0)
                .u8(u8::from(tracking == TreeTracking::Cgroup))
                .u8(enforcement_code(enforces.memory_bytes))
                .u8(enforcement_code(enforces.cpu_seconds))
                .u8(enforcement_code(enforces.processes))
                .u8(enforcement_code(enforces.open_files)),
            Self::Started { id, pid, at } => FrameBuilder::new(STARTED, 0).u64(id).i32(pid).u64(at),
            Self::Failed { id, failure } => {
                let (program, exists) = match failure.step {
                    FailedStep::Exec { program, exists } => (program, exists),
                    _ => (0, false),
                };
                FrameBuilder::new(FAILED, 0)
                    .u64(id)
                    .u8(failure.step.number())
                    .u32(u32::from(program))
                    .u8(u8::from(exists))
                    .i32(failure.errno)
            }
            Self::Exited(exit) => {
                let (user, system) = exit.cpu.unwrap_or_default();
                FrameBuilder::new(EXITED, 0)
                    .u64(exit.id)
                    .i32(exit.status)
                    .u64(exit.at)
                    .u8(u8::from(exit.cpu.is_some()))
                    .u64(user)
                    .u64(system)
                    .u64(exit.max_rss_kib)
                    .u8(u8::from(exit.out_of_memory))
                    .u8(u8::from(exit.tree_ended))
                    .u64(exit_comm(exit.comm).0)
                    .u64(exit_comm(exit.comm).1)
            }
            Self::TreeEnded { id } => FrameBuilder::new(TREE_ENDED, 0).u64(id),
            Self::Unfit { step, errno } => {
                let place = WardenStep::ALL.iter().position(|other| *other == step);
                FrameBuilder::new(UNFIT, 0)
                    .u8(place
                        .and_then(|place| u8::try_from(place).ok())
                        .unwrap_or(u8::MAX))
                    .i32(errno)
            }
        };
        frame.finish().unwrap_or_default()
    }

    pub(super) fn decode(frame: &Frame) -> Result<Self, Malformed> {
        Self::read(frame).ok_or(Malformed)
    }

    fn read(frame: &Frame) -> Option<Self> {
        let mut fields = Fields::new(&frame.body);
        match frame.kind {
            HELLO => {
                let tracking = if fields.u8()? == 1 {
                    TreeTracking::Cgroup
                } else {
                    TreeTracking::Subreaper
                };
                let enforces = Enforces {
                    memory_bytes: enforcement(fields.u8()?)?,
                    cpu_seconds: enforcement(fields.u8()?)?,
                    processes: enforcement(fields.u8()?)?,
                    open_files: enforcement(fields.u8()?)?,
                };
                Some(Self::Hello { tracking, enforces })
            }
            STARTED => Some(Self::Started {
                id: fields.u64()?,
                pid: fields.i32()?,
                at: fields.u64()?,
            }),
            FAILED => {
                let id = fields.u64()?;
                let (step, program, exists) = (fields.u8()?, fields.u32()?, fields.u8()? != 0);
                let step = match *FailedStep::ALL.get(usize::from(step))? {
                    FailedStep::Exec { .. } => FailedStep::Exec {
                        program: u16::try_from(program).ok()?,
                        exists,
                    },
                    step => step,
                };
                Some(Self::Failed {
                    id,
                    failure: LaunchFailure {
                        step,
                        errno: fields.i32()?,
                    },
                })
            }
            EXITED => {
                let (id, status, at) = (fields.u64()?, fields.i32()?, fields.u64()?);
                let known = fields.u8()? != 0;
                let cpu = (fields.u64()?, fields.u64()?);
                Some(Self::Exited(ExitReport {
                    id,
                    status,
                    at,
                    cpu: known.then_some(cpu),
                    max_rss_kib: fields.u64()?,
                    out_of_memory: fields.u8()? != 0,
                    tree_ended: fields.u8()? != 0,
                    comm: (u128::from(fields.u64()?) | u128::from(fields.u64()?) << 64).to_le_bytes(),
                }))
            }
            TREE_ENDED => Some(Self::TreeEnded { id: fields.u64()? }),
            UNFIT => Some(Self::Unfit {
                step: *WardenStep::ALL.get(usize::from(fields.u8()?))?,
                errno: fields.i32()?,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip(report: Report) {
        let bytes = report.encode();
        let frame = Frame {
            kind: bytes[4],
            body: bytes[6..].to_vec(),
            descriptors: Ok(Vec::new()),
        };
        assert_eq!(Report::decode(&frame), Ok(report));
    }

    #[test]
    fn reports_come_back_as_they_were() {
        for tracking in [TreeTracking::Cgroup, TreeTracking::Subreaper] {
            let enforces = Enforces {
                memory_bytes: Some(Enforcement::Cgroup),
                open_files: Some(Enforcement::Rlimit),
                ..Enforces::default()
            };
            round_trip(Report::Hello { tracking, enforces });
        }
        round_trip(Report::Started {
            id: u64::MAX,
            pid: 7,
            at: 9,
        });
        let exec = FailedStep::Exec {
            program: 65_535,
            exists: true,
        };
        for step in FailedStep::ALL.into_iter().chain([exec]) {
            round_trip(Report::Failed {
                id: 3,
                failure: LaunchFailure { step, errno: 13 },
            });
        }
        round_trip(Report::Exited(ExitReport {
            id: 1,
            status: -1,
            at: 2,
            cpu: None,
            max_rss_kib: 0,
            out_of_memory: true,
            tree_ended: false,
            comm: *b"0123456789abcde\n",
        }));
        round_trip(Report::TreeEnded { id: 0 });
        for step in WardenStep::ALL {
            round_trip(Report::Unfit { step, errno: 24 });
        }
    }

    proptest! {
        #[test]
        fn any_body_is_decoded_without_panic(
            kind in any::<u8>(),
            body in proptest::collection::vec(any::<u8>(), 0..256),
        ) {
            let frame = || Frame { kind, body: body.clone(), descriptors: Ok(Vec::new()) };
            let _ = Report::decode(&frame());
            let _ = Request::decode(frame());
        }
    }
}
