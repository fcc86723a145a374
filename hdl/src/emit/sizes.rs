//! Dispatch: the hardware of a size that is known only when the program runs.
//!
//! RustHDL's blocks have their sizes as constants, so every size that may be asked for must be compiled. What is
//! compiled is the table of [`deltaline_design::built_sizes`], no more and no less.
//!
//! # Test plan
//!
//! Here: every size of each core's table is compiled with the constants that it means, every other one is an error.
//! `hdl/tests/sizes.rs`: the smallest and the largest of each core are emitted, what is not in the table is refused.

use crate::emit::refusal::EmitError;
use deltaline_design::{Size, built_sizes, row_bits, word_bits};

/// What is emitted once its size is known.
pub(crate) trait Emission {
    /// Emits it with R = log2(rows), A = R + bits of the bank's and the class's number, room for C classes, and T = R - 2, of slices
    /// R - 1.
    fn emit<const R: usize, const A: usize, const C: usize, const T: usize>(
        self,
    ) -> Result<String, EmitError>;
}

/// Emits in one of the sizes behind the semicolon, T being R less `below`.
macro_rules! emit_in {
    ($size:ident, $emission:ident, $below:literal; $(($rows:literal, $banks:literal, $classes:literal))*) => {
        match ($size.rows, $size.banks, $size.classes) {
            $(($rows, $banks, $classes) => {
                $emission.emit::<{ row_bits($rows) }, { word_bits($rows, $banks, $classes) }, $classes, { row_bits($rows) - $below }>()
            })*
            _ => Err(EmitError::Design(format!("{:?} is not compiled", $size))),
        }
    };
}

/// One lane of 64 bits.
pub(crate) fn narrow(size: Size, emission: impl Emission) -> Result<String, EmitError> {
    built_sizes!(narrow, emit_in size, emission, 2;)
}

/// The same with digests.
pub(crate) fn narrow_digests(size: Size, emission: impl Emission) -> Result<String, EmitError> {
    built_sizes!(narrow_digests, emit_in size, emission, 2;)
}

/// One lane of 256 or 512 bits.
pub(crate) fn wide(size: Size, emission: impl Emission) -> Result<String, EmitError> {
    built_sizes!(wide, emit_in size, emission, 2;)
}

/// Several lanes.
pub(crate) fn lanes(size: Size, emission: impl Emission) -> Result<String, EmitError> {
    built_sizes!(lanes, emit_in size, emission, 2;)
}

/// One lane of 256 or 512 bits, or several lanes, with digests.
pub(crate) fn wide_digests(size: Size, emission: impl Emission) -> Result<String, EmitError> {
    built_sizes!(wide_digests, emit_in size, emission, 2;)
}

/// One lane of 64 bits with FineComb.
pub(crate) fn finecomb(size: Size, emission: impl Emission) -> Result<String, EmitError> {
    built_sizes!(finecomb, emit_in size, emission, 2;)
}

/// One lane of 64 bits with an identity table.
pub(crate) fn identity(size: Size, emission: impl Emission) -> Result<String, EmitError> {
    built_sizes!(identity, emit_in size, emission, 2;)
}

/// One lane of 64 bits with an LDA and an identity table.
pub(crate) fn lda_identity(size: Size, emission: impl Emission) -> Result<String, EmitError> {
    built_sizes!(lda_identity, emit_in size, emission, 2;)
}

/// One lane of 64 or 512 bits with rows of flows.
pub(crate) fn flow_rows(size: Size, emission: impl Emission) -> Result<String, EmitError> {
    built_sizes!(flow_rows, emit_in size, emission, 2;)
}

/// One lane of 64 or 512 bits with a vector of flows.
pub(crate) fn flow_vector(size: Size, emission: impl Emission) -> Result<String, EmitError> {
    built_sizes!(flow_vector, emit_in size, emission, 2;)
}

/// One lane of 64, 256 or 512 bits with slices.
pub(crate) fn slices(size: Size, emission: impl Emission) -> Result<String, EmitError> {
    built_sizes!(slices, emit_in size, emission, 1;)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaline_design::{CellKind, CoreKind, sizes};

    /// Shows the constants that it is emitted with.
    struct Probe;

    impl Emission for Probe {
        fn emit<const R: usize, const A: usize, const C: usize, const T: usize>(
            self,
        ) -> Result<String, EmitError> {
            Ok(format!("{R} {A} {C}"))
        }
    }

    #[test]
    fn every_size_of_the_table_is_compiled_and_no_other() {
        type Dispatch = fn(Size, Probe) -> Result<String, EmitError>;
        let tables: [(CoreKind, CellKind, Dispatch); 19] = [
            (CoreKind::Bits64, CellKind::Lda, narrow),
            (CoreKind::Bits64, CellKind::Digests, narrow_digests),
            (CoreKind::Bits64, CellKind::FineComb, finecomb),
            (CoreKind::Bits64, CellKind::IdentityTable, identity),
            (CoreKind::Bits64, CellKind::LdaIdentity, lda_identity),
            (CoreKind::Bits64, CellKind::FlowRows, flow_rows),
            (CoreKind::Bits512, CellKind::FlowRows, flow_rows),
            (CoreKind::Bits64, CellKind::FlowVector, flow_vector),
            (CoreKind::Bits512, CellKind::FlowVector, flow_vector),
            (CoreKind::Bits64, CellKind::Slices, slices),
            (CoreKind::Bits256, CellKind::Slices, slices),
            (CoreKind::Bits512, CellKind::Slices, slices),
            (CoreKind::Bits256, CellKind::Lda, wide),
            (CoreKind::Bits512, CellKind::Lda, wide),
            (CoreKind::TwoLanes512, CellKind::Lda, lanes),
            (CoreKind::FourLanes512, CellKind::Lda, lanes),
            (CoreKind::Bits256, CellKind::Digests, wide_digests),
            (CoreKind::TwoLanes512, CellKind::Digests, wide_digests),
            (CoreKind::FourLanes512, CellKind::Digests, wide_digests),
        ];
        for (core, cells, dispatch) in tables {
            let mut compiled = 0;
            for row_bits in 0..=15 {
                for bank_bits in 0..=3 {
                    for class_bits in 0..=3 {
                        let size =
                            Size { rows: 1 << row_bits, banks: 1 << bank_bits, classes: 1 << class_bits };
                        let found = dispatch(size, Probe);
                        let word_bits = row_bits + bank_bits + class_bits;
                        let constants = format!("{row_bits} {word_bits} {}", size.classes);
                        let expected = sizes(core, cells).contains(&size).then_some(constants);
                        compiled += usize::from(found.is_ok());
                        assert_eq!(found.ok(), expected, "{core} {cells:?} {size:?}");
                    }
                }
            }
            assert_eq!(compiled, sizes(core, cells).len());
        }
    }
}
