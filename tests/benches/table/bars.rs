//! The bars a figure must clear. `docs/benchmarks.md` gives the reasons.

use crate::figures::{Figure, Figures, Subject};

/// A bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bar {
    /// At most this.
    AtMost(f64),
    /// At least this.
    AtLeast(f64),
    /// At most the floor times this.
    FloorTimes(f64),
    /// At most the floor plus this.
    FloorPlus(f64),
    /// At most one n-th of the peer.
    PeerOver(f64),
    /// At least the peer times this.
    PeerTimes(f64),
    /// At most another figure of the same server times this.
    Times(f64, Figure),
}

/// What became of a bar.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    /// The bar, in words.
    pub(crate) bar: String,
    /// What was measured against it, in words; none: there was nothing to hold it against.
    pub(crate) measured: Option<String>,
    /// Cleared.
    pub(crate) met: bool,
}

/// The bars of a figure.
pub(crate) fn of(figure: Figure) -> &'static [Bar] {
    match figure {
        Figure::Initialize => &[Bar::AtMost(3.0), Bar::PeerOver(3.0)],
        Figure::TruePipes => &[Bar::FloorTimes(1.3), Bar::PeerOver(3.0)],
        Figure::TruePty => &[Bar::PeerOver(3.0)],
        Figure::OutputRate => &[Bar::PeerTimes(5.0)],
        Figure::OutputCpu => &[Bar::FloorTimes(1.5)],
        Figure::RoundTrip => &[Bar::FloorPlus(30.0)],
        Figure::Requests => &[Bar::AtLeast(100.0)],
        Figure::MemoryIdle | Figure::Binary => &[Bar::AtMost(8.0)],
        Figure::MemoryAfter => &[Bar::AtMost(14.0)],
        Figure::CrowdRoundTrip => &[Bar::Times(2.0, Figure::CrowdRoundTripIdle)],
        Figure::CrowdEcho => &[Bar::Times(2.0, Figure::CrowdEchoIdle)],
        Figure::SnapshotSmall => &[Bar::FloorPlus(1.0), Bar::PeerOver(3.0)],
        Figure::SnapshotFew | Figure::SnapshotZsh => &[Bar::FloorPlus(2.0)],
        Figure::SnapshotAll => &[Bar::FloorPlus(1.0)],
        Figure::SnapshotCapture => &[Bar::FloorPlus(20.0)],
        Figure::Telemetry => &[Bar::FloorTimes(1.02)],
        Figure::TelemetryMemory => &[Bar::FloorPlus(2.0)],
        Figure::Echo | Figure::CrowdRoundTripIdle | Figure::CrowdEchoIdle => &[],
    }
}

impl Bar {
    /// Says something only beside another server.
    pub(crate) fn needs_peer(self) -> bool {
        matches!(self, Self::PeerOver(_) | Self::PeerTimes(_))
    }

    /// Holds what was measured against it.
    pub(crate) fn judge(self, figure: Figure, figures: &Figures) -> Verdict {
        let ours = (figure, Subject::Ours);
        let alone = || figures.spread(figure, Subject::Ours).map(|spread| spread.median);
        let ratio = |other| figures.compared(ours, other, |one, other| one / other);
        let times = |ratio: Option<f64>| ratio.map(|ratio| format!("{ratio:.2}×"));
        let unit = figure.unit();
        let (bar, measured, met) = match self {
            Self::AtMost(most) => (
                format!("≤ {most} {unit}"),
                None,
                alone().is_some_and(|ours| ours <= most),
            ),
            Self::AtLeast(least) => (
                format!("≥ {least} {unit}"),
                None,
                alone().is_some_and(|ours| ours >= least),
            ),
            Self::FloorTimes(most) => {
                let ratio = ratio((figure, Subject::Floor));
                // A bar of two per cent is not held against hundredths.
                let measured = match most {
                    ..1.1 => ratio.map(|ratio| format!("{ratio:.3}×")),
                    _ => times(ratio),
                };
                (
                    format!("≤ {most}× floor"),
                    measured,
                    ratio.is_some_and(|ratio| ratio <= most),
                )
            }
            Self::FloorPlus(most) => {
                let over = figures.compared(ours, (figure, Subject::Floor), |ours, floor| ours - floor);
                let measured = over.map(|over| format!("{over:+.1} {unit}"));
                (
                    format!("≤ floor + {most} {unit}"),
                    measured,
                    over.is_some_and(|over| over <= most),
                )
            }
            Self::PeerOver(parts) => {
                let ratio = ratio((figure, Subject::Peer));
                let measured = ratio.map(|ratio| format!("1/{:.1}", 1.0 / ratio));
                (
                    format!("≤ 1/{parts} peer"),
                    measured,
                    ratio.is_some_and(|ratio| ratio <= 1.0 / parts),
                )
            }
            Self::PeerTimes(least) => {
                let ratio = ratio((figure, Subject::Peer));
                (
                    format!("≥ {least}× peer"),
                    times(ratio),
                    ratio.is_some_and(|ratio| ratio >= least),
                )
            }
            Self::Times(most, other) => {
                let ratio = ratio((other, Subject::Ours));
                (
                    format!("≤ {most}× that of one"),
                    times(ratio),
                    ratio.is_some_and(|ratio| ratio <= most),
                )
            }
        };
        let needs_no_other = matches!(self, Self::AtMost(_) | Self::AtLeast(_));
        let measured = if needs_no_other {
            alone().map(|ours| format!("{ours:.1}"))
        } else {
            measured
        };
        Verdict { bar, measured, met }
    }
}
