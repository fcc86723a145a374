//! A network of measurement segments: which routers to upgrade, who measures what, and what the segments say of whole paths.
//!
//! This is MPLANE of the LDA paper (Kompella, Levchenko, Snoeren, Varghese, IEEE/ACM ToN 2012, sections II and VI). Some
//! routers measure their own delay: *m-routers*. Every other router has an *m-server* beside it. Both send probes, and a path
//! is cut into *segments* where it passes an m-router: what is measured once serves all paths that have it in common.
//!
//! | to get | use |
//! |---|---|
//! | a network from a file or another program | [`read`], [`read_from`], [`parse`], to a [`Topology`] |
//! | all shortest paths, equal costs included | [`Routes`] |
//! | probe hop count, localisation granularity, what a router's upgrade would save | [`Tally`] |
//! | which routers to upgrade | [`Plan`] |
//! | what a router or server has to measure | [`m_set`], [`sessions`] |
//! | a path's delay, deviation, loss and quantiles | [`Path`], from one [`Part`] for each segment; beside a measurement: [`apart`] |
//! | which segment explains a spike | [`Localiser`] |
//! | what to measure while routes change | [`Measured`] |
//!
//! # Example
//!
//! ```
//! use deltaline_station::{Plan, Routes, Topology};
//!
//! // A line of five routers.
//! let mut line = Topology::new();
//! for pair in ["A", "B", "C", "D", "E"].windows(2) {
//!     line.connect(pair[0], pair[1], 1)?;
//! }
//! let routes = Routes::of(&line);
//! let plan = Plan::greedy(&routes, 1)?;
//! // Without an upgrade 20 probes pass 40 links; C cuts what passes it.
//! assert_eq!((plan.before.probe_hops, plan.after().probe_hops), (40, 16));
//! assert_eq!(line.name(plan.steps[0].router), "C");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Test plan
//!
//! Each module has its own. Together: the published numbers of the Sprint network, against a second implementation that lists
//! every path (`tests/published.rs`, where the file is at hand). A path of
//! queues, measured segment by segment: `tests/network.rs`.

mod clopper_pearson;
mod compose;
mod error;
mod format;
mod localise;
mod m_set;
mod plan;
mod routes;
mod tally;
mod topology;
mod transition;

pub use compose::{ComposeError, Composed, Dependence, Part, Path, apart};
pub use error::{TooManyPaths, TopologyError};
pub use format::{parse, read, read_from};
pub use localise::{Localiser, Named, Rule, RuleError};
pub use m_set::{Member, m_set, sessions};
pub use plan::{Plan, PlanError, Step};
pub use routes::Routes;
pub use tally::{Tally, Through, Totals};
pub use topology::{LinkError, Remark, Topology};
pub use transition::{Measured, Segment, segments};
