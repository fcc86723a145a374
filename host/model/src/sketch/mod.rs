//! The sketch: which cells a packet is added to, and what a cell adds up.

pub mod cell;
pub mod colate;
pub mod digest;
pub mod field_cell;
pub mod finecomb;
pub mod flow_rows;
pub mod flow_vector;
pub mod identity_table;
pub mod layout;
pub mod lda;
pub mod lda_identity;
pub mod lds;
pub mod mixing;
pub mod packet_cache;
pub mod packet_id;
pub mod place;
pub mod rda;
pub mod registry;
pub mod rounds;
pub mod sampler;
pub mod slices;
pub mod synopsis;
pub mod xor_cell;
