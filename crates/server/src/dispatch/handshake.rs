//! The states of the connection.

use std::sync::{Mutex, MutexGuard, PoisonError};

use exec_protocol::method::{Initialize, Method};
use exec_protocol::{ErrorKind, RpcError};

/// Where the connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Waits for `initialize`.
    Uninitialized,
    /// Answered `initialize`, waits for `initialized`.
    Initializing,
    /// Everything goes.
    Ready,
    /// Nothing new goes.
    Ending,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Uninitialized => "uninitialized",
            Self::Initializing => "initializing",
            Self::Ready => "ready",
            Self::Ending => "ending",
        }
    }
}

/// uninitialized → initializing → ready → ending.
#[derive(Debug)]
pub(crate) struct Handshake(Mutex<State>);

impl Handshake {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(State::Uninitialized))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a known method may be called now.
    pub(crate) fn admit(&self, method: &str) -> Result<(), RpcError> {
        let state = *self.state();
        let wrong = |message| Err(wrong_state(state, message));
        match (state, method == Initialize::NAME) {
            (State::Uninitialized, true) | (State::Ready, false) => Ok(()),
            (State::Uninitialized, false) => wrong("not initialized: send the request `initialize` first"),
            (State::Initializing | State::Ready, true) => {
                wrong("initialized already: `initialize` is sent once per connection")
            }
            (State::Initializing, false) => {
                wrong("initialization is not complete: send the notification `initialized` first")
            }
            (State::Ending, _) => wrong("the session is ending"),
        }
    }

    /// `initialize` succeeds.
    pub(crate) fn begin(&self) -> Result<(), RpcError> {
        self.admit(Initialize::NAME)?;
        *self.state() = State::Initializing;
        Ok(())
    }

    /// `initialized` came. False: it came out of turn, and changes nothing.
    pub(crate) fn complete(&self) -> bool {
        let mut state = self.state();
        let in_turn = *state == State::Initializing;
        if in_turn {
            *state = State::Ready;
        }
        in_turn
    }

    /// The session ends.
    pub(crate) fn end(&self) {
        *self.state() = State::Ending;
    }
}

fn wrong_state(state: State, message: &str) -> RpcError {
    ErrorKind::WrongState {
        state: state.as_str().to_owned(),
    }
    .into_error(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused_in(handshake: &Handshake, method: &str) -> Option<String> {
        match handshake.admit(method).err()?.kind()? {
            ErrorKind::WrongState { state } => Some(state),
            kind => panic!("{kind:?}"),
        }
    }

    #[test]
    fn each_state_admits_what_it_should() {
        let handshake = Handshake::new();
        let check = |initialize: Option<&str>, other: Option<&str>| {
            assert_eq!(refused_in(&handshake, "initialize").as_deref(), initialize);
            assert_eq!(refused_in(&handshake, "process/start").as_deref(), other);
        };
        check(None, Some("uninitialized"));
        assert!(!handshake.complete());
        check(None, Some("uninitialized"));
        handshake.begin().unwrap();
        check(Some("initializing"), Some("initializing"));
        assert!(handshake.begin().is_err());
        assert!(handshake.complete());
        check(Some("ready"), None);
        assert!(!handshake.complete());
        handshake.end();
        check(Some("ending"), Some("ending"));
        assert!(!handshake.complete());
    }
}
