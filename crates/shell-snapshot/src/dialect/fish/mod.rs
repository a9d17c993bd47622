//! fish.
