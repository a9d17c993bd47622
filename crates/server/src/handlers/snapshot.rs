//! `shellSnapshot/*`: capture ahead, look, drop.

use std::sync::Arc;

use exec_protocol::snapshot::{
    DescribeSnapshotResponse, InvalidateSnapshotParams, InvalidateSnapshotResponse, LeftOut, PrewarmResponse,
    SnapshotAvailability, SnapshotContents, SnapshotFailure, SnapshotParams, SnapshotReplay, WatchedFile,
};
use exec_protocol::{PathUri, milliseconds};
use exec_shell_snapshot::{Availability, Description, Failure, Held, Name, ReplayKind, Summary};

use super::Handlers;
use super::failure::rpc_error;
use crate::dispatch::{Call, Refusal};
use crate::telemetry::CaptureSteps;

pub(super) async fn prewarm(
    handlers: Arc<Handlers>,
    call: Call,
    params: SnapshotParams,
) -> Result<PrewarmResponse, Refusal> {
    let request = handlers.launcher.prepare_snapshot(&params).map_err(rpc_error)?;
    let Summary {
        took,
        state_bytes,
        environment_bytes,
        functions,
        aliases,
        variables,
    } = handlers
        .snapshots
        .prewarm(request, &CaptureSteps(&call.span))
        .await
        .map_err(rpc_error)?;
    Ok(PrewarmResponse {
        duration_ms: milliseconds::floor(took),
        state_bytes,
        environment_bytes,
        functions: functions as u64,
        aliases: aliases as u64,
        variables: variables as u64,
    })
}

pub(super) async fn describe(
    handlers: Arc<Handlers>,
    _call: Call,
    params: SnapshotParams,
) -> Result<DescribeSnapshotResponse, Refusal> {
    let request = handlers.launcher.prepare_snapshot(&params).map_err(rpc_error)?;
    let Description {
        availability,
        failure,
        held,
        watched,
    } = handlers.snapshots.describe(request).await;
    Ok(DescribeSnapshotResponse {
        availability: wire_availability(availability),
        failure: failure.map(wire_failure),
        snapshot: held.map(contents),
        watched_files: watched
            .into_iter()
            .filter_map(|(path, present)| {
                let path = PathUri::from_path(&path)?;
                Some(WatchedFile { path, present })
            })
            .collect(),
    })
}

pub(super) async fn invalidate(
    handlers: Arc<Handlers>,
    _call: Call,
    params: InvalidateSnapshotParams,
) -> Result<InvalidateSnapshotResponse, Refusal> {
    let dropped = handlers.snapshots.invalidate(params.scope_id.as_deref());
    Ok(InvalidateSnapshotResponse {
        dropped: dropped as u64,
    })
}

fn contents(held: Held) -> SnapshotContents {
    let inventory = held.inventory;
    SnapshotContents {
        age_ms: milliseconds::floor(held.age),
        duration_ms: milliseconds::floor(held.summary.took),
        state_bytes: held.summary.state_bytes,
        environment_bytes: held.summary.environment_bytes,
        replay: match held.replay {
            ReplayKind::File => SnapshotReplay::File,
            ReplayKind::Environment => SnapshotReplay::Environment,
        },
        interactive: held.interactive,
        functions: names(inventory.functions),
        aliases: names(inventory.aliases),
        exported: names(held.exported),
        unset: names(held.unset),
        variables: names(inventory.variables),
        options: names(inventory.options),
        left_out: inventory
            .left_out
            .into_iter()
            .map(|left_out| LeftOut {
                what: text(&left_out.what),
                why: left_out.why.to_owned(),
            })
            .collect(),
    }
}

fn names(names: impl IntoIterator<Item = Name>) -> Vec<String> {
    names.into_iter().map(|name| text(&name)).collect()
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

fn wire_availability(availability: Availability) -> SnapshotAvailability {
    match availability {
        Availability::PrewarmReady => SnapshotAvailability::PrewarmReady,
        Availability::PrewarmPending => SnapshotAvailability::PrewarmPending,
        Availability::CacheHit => SnapshotAvailability::CacheHit,
        Availability::CapturePending => SnapshotAvailability::CapturePending,
        Availability::OnDemand => SnapshotAvailability::OnDemand,
        Availability::Unavailable => SnapshotAvailability::Unavailable,
    }
}

/// The reason of a failed capture on the wire.
pub(super) fn wire_failure(failure: Failure) -> SnapshotFailure {
    match failure {
        Failure::UnsupportedShell => SnapshotFailure::UnsupportedShell,
        Failure::MissingCommand => SnapshotFailure::MissingCommand,
        Failure::SpawnFailed => SnapshotFailure::SpawnFailed,
        Failure::MissingOutput => SnapshotFailure::MissingOutput,
        Failure::ReadFailed => SnapshotFailure::ReadFailed,
        Failure::CaptureTooLarge => SnapshotFailure::CaptureTooLarge,
        Failure::WaitFailed => SnapshotFailure::WaitFailed,
        Failure::NonzeroExit => SnapshotFailure::NonzeroExit,
        Failure::Timeout => SnapshotFailure::Timeout,
        Failure::InvalidCapture => SnapshotFailure::InvalidCapture,
        Failure::EnvironmentTooLarge => SnapshotFailure::EnvironmentTooLarge,
        Failure::StateTooLarge => SnapshotFailure::StateTooLarge,
    }
}
