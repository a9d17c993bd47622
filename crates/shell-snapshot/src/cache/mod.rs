//! Which snapshots there are: pure logic, told what time it is.

mod key;
mod learned;
mod lookup;
mod table;

pub(crate) use key::Key;
pub(crate) use lookup::{FlightId, Found, Peeked};
pub(crate) use table::{Alike, Cache};
