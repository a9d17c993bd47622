//! Which snapshots there are: pure logic, told what time it is.

mod cache_table;
mod key;
mod learned;
mod lookup;

pub(crate) use cache_table::{Alike, Cache};
pub(crate) use key::Key;
pub(crate) use lookup::{FlightId, Found, Peeked};
