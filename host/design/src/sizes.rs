//! The one table of built sizes.
//!
//! A size is the number of rows of a bank (or of another synopsis's table), the number of banks (tables) that there is
//! room for, and the number of classes that there is room for. [`built_sizes`](crate::built_sizes) is the table. What is emitted, what is refused, the text of
//! the refusal and what `deltaline size` chooses from all follow from it: to build another size, add it here.
//!
//! Every size costs the compiler time, that of a wide core seconds; that is why not all are built.
//!
//! # Test plan
//!
//! Here: room for banks and classes is rounded up; a size that is there is found, its neighbours are not; no table
//! holds a size twice; bits of addresses by hand. `hdl/tests/sizes.rs`: every size of the table is emitted, every other
//! one is refused.

use crate::kind::{CellKind, CoreKind};
use deltaline_model::configuration::Configuration;

/// Calls `$with!` with all sizes of one table, each as `(rows, room for banks, room for classes)`.
///
/// Tokens behind the macro's name are passed on, before the sizes.
///
/// The tables: `byte` and `byte_slices`, the core of 8 bits; `narrow` and `narrow_digests`, one lane of 64 bits; `wide`, one lane of 256
/// or 512 bits; `lanes`, several lanes; `wide_digests`, both of these; `finecomb`, `identity` and `lda_identity`, one lane of
/// 64 bits with those synopses; `flow_rows` and `flow_vector`, one lane of 64 or 512 bits; `slices`, one lane of 64, 256 or 512 bits.
#[macro_export]
macro_rules! built_sizes {
    (byte, $with:ident $($more:tt)*) => {
        $with! {
            $($more)*
            (8, 2, 1) (16, 2, 1) (32, 2, 1) (64, 2, 1) (128, 2, 1) (256, 2, 1) (512, 2, 1) (1024, 2, 1)
            (8, 4, 1) (16, 4, 1) (32, 4, 1) (64, 4, 1) (128, 4, 1) (256, 4, 1) (512, 4, 1) (1024, 4, 1)
        }
    };
    // One table of half as many records, always.
    (byte_slices, $with:ident $($more:tt)*) => {
        $with! {
            $($more)*
            (32, 2, 1) (128, 2, 1) (256, 2, 1) (1024, 2, 1)
        }
    };
    (narrow, $with:ident $($more:tt)*) => {
        $with! {
            $($more)*
            (8, 2, 1) (16, 2, 1) (32, 2, 1) (64, 2, 1) (128, 2, 1) (256, 2, 1) (512, 2, 1) (1024, 2, 1)
            (8, 4, 1) (16, 4, 1) (32, 4, 1) (64, 4, 1) (128, 4, 1) (256, 4, 1) (512, 4, 1) (1024, 4, 1)
            (16, 2, 2) (256, 2, 2) (1024, 2, 2)
            (16, 4, 2) (256, 4, 2) (1024, 4, 2)
            (16, 2, 4) (256, 2, 4) (1024, 2, 4)
            (16, 4, 4) (256, 4, 4) (1024, 4, 4)
        }
    };
    (narrow_digests, $with:ident $($more:tt)*) => {
        $with! {
            $($more)*
            (16, 2, 1) (256, 2, 1) (1024, 2, 1)
            (16, 4, 1) (256, 4, 1) (1024, 4, 1)
        }
    };
    (wide, $with:ident $($more:tt)*) => {
        $with! {
            $($more)*
            (16, 2, 1) (256, 2, 1) (1024, 2, 1)
            (16, 4, 1) (256, 4, 1) (1024, 4, 1)
            (16, 2, 2) (1024, 2, 2)
            (16, 2, 4) (1024, 2, 4)
        }
    };
    (lanes, $with:ident $($more:tt)*) => {
        $with! {
            $($more)*
            (16, 2, 1) (256, 2, 1) (1024, 2, 1)
            (16, 4, 1) (256, 4, 1) (1024, 4, 1)
        }
    };
    // A bank for quantiles stands beside at least two others.
    (wide_digests, $with:ident $($more:tt)*) => {
        $with! {
            $($more)*
            (16, 4, 1) (1024, 4, 1)
        }
    };
    (finecomb, $with:ident $($more:tt)*) => {
        $with! {
            $($more)*
            (16, 2, 1) (1024, 2, 1)
        }
    };
    // Four tables, always.
    (identity, $with:ident $($more:tt)*) => {
        $with! {
            $($more)*
            (16, 4, 1) (1024, 4, 1)
        }
    };
    // Three tables of words, always: 4 x 8 cells of the identity table and more.
    (lda_identity, $with:ident $($more:tt)*) => {
        $with! {
            $($more)*
            (32, 4, 1) (1024, 4, 1)
        }
    };
    // Four rows, always.
    (flow_rows, $with:ident $($more:tt)*) => {
        $with! {
            $($more)*
            (16, 4, 1) (1024, 4, 1)
        }
    };
    // One vector, always: no size has room for fewer than two. It takes the smallest that a flow's counters fit.
    (flow_vector, $with:ident $($more:tt)*) => {
        $with! {
            $($more)*
            (128, 2, 1) (1024, 2, 1)
        }
    };
    // One table of half as many records, always.
    (slices, $with:ident $($more:tt)*) => {
        $with! {
            $($more)*
            (16, 2, 1) (1024, 2, 1)
        }
    };
}

/// A size of hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Rows of each bank or table, a power of two.
    pub rows: usize,
    /// Banks or tables that there is room for, a power of two from 2 on; one fewer than half of it would take a smaller size.
    pub banks: usize,
    /// Classes that there is room for, a power of two.
    pub classes: usize,
}

impl Size {
    /// The size that this many rows, banks and classes take, built or not.
    pub fn of(rows: usize, banks: usize, classes: usize) -> Size {
        Size { rows, banks: banks.next_power_of_two().max(2), classes: classes.next_power_of_two() }
    }

    /// The size that a configuration takes, built or not.
    pub fn of_configuration(configuration: &Configuration) -> Size {
        Size::of(configuration.rows(), usize::from(configuration.shape().tables), configuration.classes())
    }
}

/// Width of a row's number in bits.
pub const fn row_bits(rows: usize) -> usize {
    rows.ilog2() as usize
}

/// Width of the number of a cell among all banks and classes, in bits.
pub const fn word_bits(rows: usize, banks: usize, classes: usize) -> usize {
    (rows * banks * classes).ilog2() as usize
}

macro_rules! table {
    ($(($rows:literal, $banks:literal, $classes:literal))*) => {
        &[$(Size { rows: $rows, banks: $banks, classes: $classes }),*]
    };
}

const BYTE: &[Size] = built_sizes!(byte, table);
const BYTE_SLICES: &[Size] = built_sizes!(byte_slices, table);
const NARROW: &[Size] = built_sizes!(narrow, table);
const NARROW_DIGESTS: &[Size] = built_sizes!(narrow_digests, table);
const WIDE: &[Size] = built_sizes!(wide, table);
const LANES: &[Size] = built_sizes!(lanes, table);
const WIDE_DIGESTS: &[Size] = built_sizes!(wide_digests, table);
const FINECOMB: &[Size] = built_sizes!(finecomb, table);
const IDENTITY: &[Size] = built_sizes!(identity, table);
const LDA_IDENTITY: &[Size] = built_sizes!(lda_identity, table);
const FLOW_ROWS: &[Size] = built_sizes!(flow_rows, table);
const FLOW_VECTOR: &[Size] = built_sizes!(flow_vector, table);
const SLICES: &[Size] = built_sizes!(slices, table);

/// Most rows of a bank that any hardware is built for.
pub const MAX_ROWS: usize = {
    let (mut most, mut i) = (0, 0);
    while i < NARROW.len() {
        most = if NARROW[i].rows > most { NARROW[i].rows } else { most };
        i += 1;
    }
    most
};

/// Most banks that any hardware is built for.
pub const MAX_BANKS: usize = {
    let (mut most, mut i) = (0, 0);
    while i < NARROW.len() {
        most = if NARROW[i].banks > most { NARROW[i].banks } else { most };
        i += 1;
    }
    most
};

/// The sizes that a core is built in with these cells; none if it is not built with them.
pub const fn sizes(core: CoreKind, cells: CellKind) -> &'static [Size] {
    match (core, cells) {
        (CoreKind::Byte, CellKind::Lda) => BYTE,
        (CoreKind::Byte, CellKind::Slices) => BYTE_SLICES,
        // Its time a packet is used up.
        (CoreKind::Byte, _) => &[],
        (CoreKind::Bits64, CellKind::Lda) => NARROW,
        (CoreKind::Bits64, CellKind::Digests) => NARROW_DIGESTS,
        (CoreKind::Bits64, CellKind::FineComb) => FINECOMB,
        (CoreKind::Bits64, CellKind::IdentityTable) => IDENTITY,
        (CoreKind::Bits64, CellKind::LdaIdentity) => LDA_IDENTITY,
        (CoreKind::Bits64 | CoreKind::Bits512, CellKind::FlowRows) => FLOW_ROWS,
        (CoreKind::Bits64 | CoreKind::Bits512, CellKind::FlowVector) => FLOW_VECTOR,
        (CoreKind::Bits64 | CoreKind::Bits256 | CoreKind::Bits512, CellKind::Slices) => SLICES,
        (CoreKind::Bits256 | CoreKind::Bits512, CellKind::Lda) => WIDE,
        (CoreKind::TwoLanes512 | CoreKind::FourLanes512, CellKind::Lda) => LANES,
        (_, CellKind::Digests) => WIDE_DIGESTS,
        (
            _,
            CellKind::FineComb
            | CellKind::IdentityTable
            | CellKind::LdaIdentity
            | CellKind::FlowRows
            | CellKind::FlowVector
            | CellKind::Rda
            | CellKind::Srda
            | CellKind::Slices,
        ) => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_rounded_up() {
        let size = |rows, banks, classes| Size { rows, banks, classes };
        for (banks, classes, expected) in
            [(1, 1, (2, 1)), (2, 2, (2, 2)), (3, 3, (4, 4)), (4, 4, (4, 4)), (5, 1, (8, 1))]
        {
            assert_eq!(Size::of(16, banks, classes), size(16, expected.0, expected.1));
        }
        assert_eq!((row_bits(1024), word_bits(1024, 2, 1), word_bits(16, 4, 4)), (10, 11, 8));
        assert_eq!((MAX_ROWS, MAX_BANKS), (1024, 4));
    }

    #[test]
    fn no_size_is_there_twice_and_none_exceeds_the_most() {
        for core in CoreKind::ALL {
            for cells in CellKind::ALL {
                let sizes = sizes(core, cells);
                for (i, size) in sizes.iter().enumerate() {
                    assert!(!sizes[i + 1..].contains(size), "{core} {size:?}");
                    assert_eq!(*size, Size::of(size.rows, size.banks, size.classes));
                    assert!(size.rows <= MAX_ROWS && size.banks <= MAX_BANKS && size.rows.is_power_of_two());
                }
            }
        }
    }
}
