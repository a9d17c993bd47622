//! Frames between daemon and warden: a length (u32, of what follows), a kind (u8), a number of descriptors
//! (u8), a body; all numbers little-endian. Descriptors ride on a frame's first byte.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use exec_protocol::limits::MAX_FRAME_BYTES;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

/// Bytes before a frame's body.
const HEADER: usize = 6;
/// Most descriptors of a frame.
const MAX_DESCRIPTORS: usize = 8;
/// One receive, bytes.
const RECEIVE_BYTES: usize = 64 * 1024;

/// Writes a frame's body.
#[derive(Debug)]
pub(super) struct FrameBuilder(Vec<u8>);

impl FrameBuilder {
    pub(super) fn new(kind: u8, descriptors: u8) -> Self {
        Self(vec![0, 0, 0, 0, kind, descriptors])
    }

    pub(super) fn u8(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    pub(super) fn u32(mut self, value: u32) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(super) fn i32(self, value: i32) -> Self {
        self.u32(value.cast_unsigned())
    }

    pub(super) fn u64(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(super) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// The frame, or `None` when it is too long.
    pub(super) fn finish(mut self) -> Option<Vec<u8>> {
        let length = self.0.len() - 4;
        if length > MAX_FRAME_BYTES {
            return None;
        }
        let length = u32::try_from(length).ok()?.to_le_bytes();
        self.0.get_mut(..4)?.copy_from_slice(&length);
        Some(self.0)
    }
}

/// Reads a frame's body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let end = self.at.checked_add(N)?;
        let array = self.bytes.get(self.at..end)?.try_into().ok()?;
        self.at = end;
        Some(array)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn i32(&mut self) -> Option<i32> {
        self.u32().map(u32::cast_signed)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Where the next field begins.
    pub(super) fn position(&self) -> usize {
        self.at
    }
}

/// A frame that came.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) body: Vec<u8>,
    /// `Err`: some were lost on the way.
    pub(super) descriptors: Result<Vec<OwnedFd>, DescriptorsLost>,
}

/// MSG_CTRUNC: the descriptor limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DescriptorsLost;

/// The stream is not what the other end would write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed frame")]
pub(super) struct Malformed;

/// Descriptors of one receive. The kernel ends a receive after the first message that bears descriptors, so
/// they belong to the one frame with descriptors that begins among that receive's bytes.
#[derive(Debug)]
struct Batch {
    end: u64,
    descriptors: Vec<OwnedFd>,
}

/// Puts frames together.
#[derive(Debug, Default)]
pub(super) struct FrameReader {
    buffer: Vec<u8>,
    /// Bytes of `buffer` already taken.
    taken: usize,
    /// Offset in the stream of `buffer[0]`.
    base: u64,
    batches: VecDeque<Batch>,
}

impl FrameReader {
    /// One non-blocking receive. `Ok(0)`: the other end is gone.
    pub(super) fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        self.compact();
        let old = self.buffer.len();
        self.buffer.resize(old + self.wanted(), 0);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let received = match self.buffer.get_mut(old..) {
            Some(room) => rustix::net::recvmsg(socket, &mut [IoSliceMut::new(room)], &mut ancillary, flags),
            None => Err(rustix::io::Errno::INVAL),
        };
        let bytes = received.as_ref().map_or(0, |message| message.bytes);
        self.buffer.truncate(old + bytes);
        let truncated = received?.flags.contains(ReturnFlags::CTRUNC);
        let mut descriptors = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                descriptors.extend(fds);
            }
        }
        if truncated || !descriptors.is_empty() {
            self.batches.push_back(Batch {
                end: self.base + self.buffer.len() as u64,
                descriptors,
            });
        }
        Ok(bytes)
    }

    /// Room for the rest of the frame that has begun, so that a long one takes few receives.
    fn wanted(&self) -> usize {
        let begun = self.buffer.get(self.taken..).unwrap_or_default();
        let rest = Fields::new(begun).u32().map_or(0, |length| {
            (length as usize + 4)
                .min(MAX_FRAME_BYTES)
                .saturating_sub(begun.len())
        });
        rest.max(RECEIVE_BYTES)
    }

    fn compact(&mut self) {
        if self.taken > 0 {
            self.buffer.drain(..self.taken);
            self.base += self.taken as u64;
            self.taken = 0;
        }
        if self.buffer.is_empty() && self.buffer.capacity() > 4 * RECEIVE_BYTES {
            self.buffer = Vec::new();
        }
    }

    /// The next whole frame.
    pub(super) fn next(&mut self) -> Result<Option<Frame>, Malformed> {
        let begun = self.buffer.get(self.taken..).unwrap_or_default();
        let mut header = Fields::new(begun);
        let (Some(length), Some(kind), Some(count)) = (header.u32(), header.u8(), header.u8()) else {
            return Ok(None);
        };
        let length = length as usize + 4;
        if !(HEADER..=MAX_FRAME_BYTES + 4).contains(&length) || usize::from(count) > MAX_DESCRIPTORS {
            return Err(Malformed);
        }
        let Some(body) = begun.get(HEADER..length) else {
            return Ok(None);
        };
        let body = body.to_vec();
        let start = self.base + self.taken as u64;
        self.taken += length;
        Ok(Some(Frame {
            kind,
            body,
            descriptors: self.descriptors_of(start, usize::from(count)),
        }))
    }

    fn descriptors_of(&mut self, start: u64, count: usize) -> Result<Vec<OwnedFd>, DescriptorsLost> {
        if count == 0 {
            return Ok(Vec::new());
        }
        if self.batches.front().is_none_or(|batch| start >= batch.end) {
            return Err(DescriptorsLost);
        }
        match self.batches.pop_front() {
            Some(batch) if batch.descriptors.len() == count => Ok(batch.descriptors),
            _ => Err(DescriptorsLost),
        }
    }
}

/// Frames that wait to be sent. Bounded by what they are about: a handful for each live command.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    frames: VecDeque<Outgoing>,
}

#[derive(Debug)]
struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    descriptors: Vec<Arc<OwnedFd>>,
}

impl Outbox {
    pub(super) fn push(&mut self, bytes: Vec<u8>, descriptors: Vec<Arc<OwnedFd>>) {
        self.frames.push_back(Outgoing {
            bytes,
            sent: 0,
            descriptors,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Gives up the frame at the front, of which nothing was sent.
    pub(super) fn pop(&mut self) -> Option<Vec<u8>> {
        self.frames.pop_front().map(|frame| frame.bytes)
    }

    /// Sends what the socket takes, one message a frame. True: nothing is left.
    pub(super) fn flush(&mut self, socket: BorrowedFd<'_>) -> io::Result<bool> {
        while let Some(frame) = self.frames.front_mut() {
            match frame.send(socket) {
                Ok(true) => {
                    self.frames.pop_front();
                }
                Ok(false) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

impl Outgoing {
    fn send(&mut self, socket: BorrowedFd<'_>) -> io::Result<bool> {
        let rest = self.bytes.get(self.sent..).unwrap_or_default();
        let borrowed: Vec<BorrowedFd<'_>> = self.descriptors.iter().map(|fd| fd.as_fd()).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !borrowed.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(&borrowed)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let sent = rustix::net::sendmsg(socket, &[IoSlice::new(rest)], &mut ancillary, flags)?;
        self.descriptors.clear();
        self.sent += sent;
        Ok(self.sent >= self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{FrameBuilder, FrameReader, Outbox};
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    use std::os::fd::{AsFd, OwnedFd};
    use std::sync::Arc;

    fn pair() -> (OwnedFd, OwnedFd) {
        socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )
        .expect("socketpair")
    }

    #[test]
    fn descriptors_stay_with_their_frames() {
        let (a, b) = pair();
        let mut outbox = Outbox::default();
        let null = || rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty());
        for round in 0..20u8 {
            let count = round % 4;
            let descriptors = (0..count).map(|_| Arc::new(null().expect("null"))).collect();
            let frame = FrameBuilder::new(round, count).bytes(&vec![round; usize::from(round) * 10_000]);
            outbox.push(frame.finish().expect("short"), descriptors);
        }
        let mut reader = FrameReader::default();
        let mut seen = 0u8;
        while seen < 20 {
            outbox.flush(a.as_fd()).expect("flush");
            assert_ne!(reader.receive(b.as_fd()).expect("receive"), 0);
            while let Some(frame) = reader.next().expect("well formed") {
                assert_eq!(frame.kind, seen);
                assert_eq!(frame.body, vec![seen; usize::from(seen) * 10_000]);
                assert_eq!(frame.descriptors.expect("none lost").len(), usize::from(seen % 4));
                seen += 1;
            }
        }
        assert!(outbox.is_empty());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 1..4096)) {
            let (a, b) = pair();
            rustix::io::write(&a, &bytes).expect("write");
            let mut reader = FrameReader::default();
            reader.receive(b.as_fd()).expect("receive");
            let mut bodies = 0;
            while let Ok(Some(frame)) = reader.next() {
                bodies += frame.body.len();
            }
            prop_assert!(bodies <= bytes.len());
        }
    }
}
