//! Which snapshots there are: pure logic, told what time it is.

mod cache_table;
mod key;
mod lookup;

pub(crate) use cache_table::Cache;
pub(crate) use key::Key;
pub(crate) use lookup::{FlightId, Found, Peeked};
