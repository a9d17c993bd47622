//! What shell snapshots tell, in the words of telemetry.

use exec_shell_snapshot::{
    self as snapshot, CaptureFinished, CaptureFollower, CommandPrepared, Failure, Follower,
};
use exec_telemetry::tags::{Attempt, Availability, FailureReason, Outcome, Purpose, SandboxKind, ShellKind};
use exec_telemetry::{Capture, Metrics, RequestSpan, SnapshotCommand, Step, StepSpan};

/// Tells the metrics of captures and of the commands that asked for one.
#[derive(Debug)]
pub(crate) struct SnapshotObserver(pub(crate) Metrics);

impl snapshot::Observer for SnapshotObserver {
    fn capture_finished(&self, capture: &CaptureFinished) {
        self.0.capture_finished(Capture {
            purpose: match capture.purpose {
                snapshot::Purpose::Execution => Purpose::Execution,
                snapshot::Purpose::Prewarm => Purpose::Prewarm,
            },
            attempt: Attempt::numbered(capture.attempt),
            shell: match capture.shell {
                snapshot::ShellKind::Bash => ShellKind::Bash,
                snapshot::ShellKind::Zsh => ShellKind::Zsh,
                snapshot::ShellKind::Sh => ShellKind::Sh,
                snapshot::ShellKind::Fish => ShellKind::Fish,
            },
            sandbox: SandboxKind::None,
            duration: capture.duration,
            outcome: capture.result.map_err(reason),
        });
    }

    fn command_prepared(&self, command: &CommandPrepared) {
        self.0.snapshot_command(SnapshotCommand {
            availability: match command.availability {
                snapshot::Availability::PrewarmReady => Availability::PrewarmReady,
                snapshot::Availability::PrewarmPending => Availability::PrewarmPending,
                snapshot::Availability::CacheHit => Availability::CacheHit,
                snapshot::Availability::CapturePending => Availability::CapturePending,
                snapshot::Availability::OnDemand => Availability::OnDemand,
                snapshot::Availability::Unavailable => Availability::Unavailable,
            },
            outcome: match command.outcome {
                snapshot::Outcome::Used => Outcome::Used,
                snapshot::Outcome::Fallback => Outcome::Fallback,
            },
            wait: command.wait,
        });
    }
}

/// Makes a capture a step of the request that had it made.
pub(crate) struct CaptureSteps<'a>(pub(crate) &'a RequestSpan);

impl Follower for CaptureSteps<'_> {
    fn capture_began(&self) -> Box<dyn CaptureFollower> {
        Box::new(CaptureStep(self.0.step(Step::CaptureShellSnapshot)))
    }
}

struct CaptureStep(StepSpan);

impl CaptureFollower for CaptureStep {
    fn capture_ended(self: Box<Self>, failure: Option<Failure>) {
        self.0.capture_finished(failure.map(reason));
    }
}

fn reason(failure: Failure) -> FailureReason {
    match failure {
        Failure::UnsupportedShell => FailureReason::UnsupportedShell,
        Failure::MissingCommand => FailureReason::MissingCommand,
        Failure::SpawnFailed => FailureReason::SpawnFailed,
        Failure::MissingOutput => FailureReason::MissingOutput,
        Failure::ReadFailed => FailureReason::ReadFailed,
        Failure::CaptureTooLarge => FailureReason::CaptureTooLarge,
        Failure::WaitFailed => FailureReason::WaitFailed,
        Failure::NonzeroExit => FailureReason::NonzeroExit,
        Failure::Timeout => FailureReason::Timeout,
        Failure::InvalidCapture => FailureReason::InvalidCapture,
        Failure::EnvironmentTooLarge => FailureReason::EnvironmentTooLarge,
        Failure::StateTooLarge => FailureReason::StateTooLarge,
    }
}
