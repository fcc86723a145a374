//! What of a configuration can be emitted on its own.

/// What can be emitted on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// The whole core for beats of 64 bits.
    Core,
    /// The whole core for beats of 256 bits.
    Core256,
    /// The whole core for beats of 512 bits.
    Core512,
    /// The whole core for two lanes with beats of 512 bits.
    TwoLanes512,
    /// The whole core for four lanes with beats of 512 bits.
    FourLanes512,
    /// The identity stage for beats of 64 bits: stream in, keys out.
    Identity,
    /// The identity stage for beats of 256 bits.
    Identity256,
    /// The identity stage for beats of 512 bits.
    Identity512,
    /// The hash stage: the bits that a place is made of.
    Hash,
    /// The place: keys in, what picks bank and row out.
    Place,
    /// The digest that is the first further field of a cell.
    Digest,
    /// The sampler.
    Sampler,
    /// The classifier.
    Classifier,
    /// Banks of cells in two copies.
    Lda,
    /// The identity table: keys in, cells out.
    IdentityTable,
    /// Rows with an identity table beside them: keys in, words out.
    LdaIdentity,
    /// Rows of flows: keys in, cells out.
    FlowRows,
    /// Vector of flows: keys in, cells out.
    FlowVector,
    /// Slices: keys in, records out.
    Slices,
}
