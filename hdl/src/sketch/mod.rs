//! The sketch: which cells a packet is added to, and the memory that keeps them.
//!
//! ```text
//! key -> place (hash, rounds) -> sampler -> lda -> cell_memory, cell_memory (two parts of a cell's sum and count)
//!     -> digest (hash, rounds) ------------------> cell_memory (a further field, if wanted)
//! ```
//!
//! [`lane::Lane`] puts them together for the packets of one lane; [`identity_table::IdentityTable`] does so for an identity
//! table, [`lda_identity::LdaIdentity`] for rows with one beside them, [`flow_rows::FlowRows`] for rows
//! in which every flow has cells, [`flow_vector::FlowVector`] for a vector in which it has, [`slices::Slices`] for records of
//! slices.

pub mod adder;
pub mod cell_memory;
pub mod digest;
pub mod digest_sum;
pub mod flow_key;
pub mod flow_rows;
pub mod flow_vector;
pub mod identity_table;
pub mod lane;
pub mod lda;
pub mod lda_identity;
pub mod merge;
pub mod mixing;
pub mod place;
pub mod rounds;
pub mod sampler;
pub mod slices;
pub mod table;
