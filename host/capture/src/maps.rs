//! Maps and sets by hashes of packets, with a quicker hash than the standard library's. It differs from run to run, so that
//! nobody can choose packets that collide.
//!
//! # Test plan
//!
//! None of their own: every test of [`crate::edges`] and [`crate::stretches`].

use foldhash::fast::RandomState;

pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
pub(crate) type HashSet<K> = std::collections::HashSet<K, RandomState>;
