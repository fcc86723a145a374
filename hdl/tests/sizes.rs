//! What is emitted is what the one table of sizes says, and what is not emitted is refused.
//!
//! # Test plan
//!
//! Each core with cells of each kind: every number of rows, banks and classes, those that no hardware has among them.
//! What is not in the table is refused with the core's name. Of the table the smallest and the largest size are emitted,
//! of the byte core, which is quick, all of them, with memories for all cells. That the others are compiled with the
//! constants that they mean is tested in `emit/sizes.rs`: wide cores take seconds each.
#![allow(clippy::unwrap_used, reason = "tests")]

use deltaline_design::{CellKind, CoreKind, Refusal, Size, sizes};
use deltaline_hdl::byte;
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module;
use deltaline_hdl::emit::refusal::EmitError;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::classifier::{Entry, WORDS};
use deltaline_model::sketch::flow_vector::MIN_COUNTERS;
use deltaline_model::sketch::slices::RECORD_CELLS;
use deltaline_model::wire::shape::Kind;

/// A configuration with this many classes, told apart by the IP version's bits. An identity table has its own number of
/// tables, whatever `banks` is.
fn configuration(rows: usize, banks: usize, classes: usize, cells: CellKind) -> Configuration {
    let entries: Vec<Entry> = (0..if classes == 1 { 0 } else { classes as u8 })
        .map(|class| {
            let (mut value, mut mask) = ([0; WORDS], [0; WORDS]);
            (value[0], mask[0]) = (u32::from(class) << 28, 0xf000_0000);
            Entry { class, value, mask }
        })
        .collect();
    let (synopsis, banks) = match cells {
        CellKind::Lda | CellKind::Digests => (Kind::LDA, banks),
        CellKind::FineComb => (Kind::FINECOMB, banks),
        CellKind::IdentityTable => (Kind::IDENTITY_TABLE, 1),
        CellKind::LdaIdentity => (Kind::LDA_IDENTITY, 1),
        CellKind::FlowRows => (Kind::FLOW_ROWS, 1),
        CellKind::FlowVector => (Kind::FLOW_VECTOR, 1),
        CellKind::Rda => (Kind::RDA, 1),
        CellKind::Srda => (Kind::SRDA, 1),
        CellKind::Slices => (Kind::SLICES, 1),
    };
    let prefixes: &[u8] = if cells == CellKind::Slices { &[3] } else { &[0, 1, 2, 3, 4, 5, 6, 7][..banks] };
    let digest = cells == CellKind::Digests;
    let settings = Settings { synopsis, rows, prefixes, entries: &entries, digest, ..Settings::default() };
    Configuration::new(settings).unwrap()
}

fn emit(core: CoreKind, configuration: &Configuration) -> Result<String, EmitError> {
    let module = match core {
        CoreKind::Byte => return byte::emit(configuration, "core"),
        CoreKind::Bits64 => Module::Core,
        CoreKind::Bits256 => Module::Core256,
        CoreKind::Bits512 => Module::Core512,
        CoreKind::TwoLanes512 => Module::TwoLanes512,
        CoreKind::FourLanes512 => Module::FourLanes512,
    };
    module::emit(configuration, module, "core")
}

/// The sizes to emit.
fn emitted(core: CoreKind, cells: CellKind) -> Vec<Size> {
    let sizes = sizes(core, cells);
    let count = |size: &&Size| size.rows * size.banks * size.classes;
    match core {
        CoreKind::Byte => sizes.to_vec(),
        _ => sizes
            .iter()
            .min_by_key(count)
            .into_iter()
            .chain(sizes.iter().max_by_key(count))
            .copied()
            .collect(),
    }
}

fn check(core: CoreKind) {
    for cells in CellKind::ALL {
        for size in emitted(core, cells) {
            let Size { rows, banks, classes } = size;
            let verilog = emit(core, &configuration(rows, banks, classes, cells)).unwrap();
            // A cell of the byte core has two words in each of its memories' planes; an identity table has memories for
            // each table.
            let words = match (core, cells) {
                // Slices have one table.
                (CoreKind::Byte, CellKind::Slices) => 2 * rows,
                (CoreKind::Byte, _) => 2 * rows * banks * classes,
                (
                    _,
                    CellKind::IdentityTable
                    | CellKind::LdaIdentity
                    | CellKind::FlowRows
                    | CellKind::FlowVector,
                ) => rows,
                (_, CellKind::Slices) => rows / RECORD_CELLS,
                _ => rows * banks * classes,
            };
            assert!(verilog.contains(&format!("ADDRESS({})", words.ilog2())), "{core} {size:?}");
        }
        for rows in (3..=12).map(|bits| 1 << bits) {
            // There is no configuration below that.
            let least = match cells {
                // With an identity table beside them.
                CellKind::LdaIdentity => 32,
                CellKind::FlowVector => MIN_COUNTERS,
                _ => 0,
            };
            if rows < least {
                continue;
            }
            for banks in 1..=8 {
                for classes in 1..=4 {
                    let configuration = configuration(rows, banks, classes, cells);
                    if !sizes(core, cells).contains(&Size::of_configuration(&configuration)) {
                        check_refusal(core, &configuration);
                    }
                }
            }
        }
    }
}

/// The core is refused for the configuration, with its sizes or with what it lacks.
fn check_refusal(core: CoreKind, configuration: &Configuration) {
    let (rows, banks) = (configuration.rows(), configuration.prefixes().banks());
    let (classes, cells) = (configuration.classes(), CellKind::of_configuration(configuration));
    let expected = match core {
        _ if cells.is_software_only() => Refusal::SoftwareOnly { cells },
        _ if cells == CellKind::Slices && core.lanes() > 1 => Refusal::SlicesInLanes,
        CoreKind::Byte if cells == CellKind::Digests => Refusal::NoDigests,
        CoreKind::Byte if classes > 1 => Refusal::NoClassifier,
        _ if sizes(core, cells).is_empty() => Refusal::Cells { core, cells },
        _ => Refusal::Size { core, cells, rows, banks, classes },
    };
    assert_eq!(emit(core, configuration), Err(EmitError::Refused(expected)));
}

#[test]
fn slices_that_are_of_software_alone() {
    let slices = Settings { synopsis: Kind::SLICES, prefixes: &[3], ..Settings::default() };
    for (settings, refusal) in [
        (Settings { prefixes: &[0], ..slices }, Refusal::MergedSlices),
        (Settings { digest: true, ..slices }, Refusal::SlicesWithDigests),
        (Settings { synopsis: Kind::BOTH, prefixes: &[1, 6], ..slices }, Refusal::Both),
    ] {
        let found = emit(CoreKind::Bits64, &Configuration::new(settings).unwrap());
        assert_eq!(found, Err(EmitError::Refused(refusal)));
    }
}

#[test]
fn byte_core() {
    check(CoreKind::Byte);
}

#[test]
fn core_of_64_bits() {
    check(CoreKind::Bits64);
}

#[test]
fn core_of_256_bits() {
    check(CoreKind::Bits256);
}

#[test]
fn core_of_512_bits() {
    check(CoreKind::Bits512);
}

#[test]
fn two_lanes() {
    check(CoreKind::TwoLanes512);
}

#[test]
fn four_lanes() {
    check(CoreKind::FourLanes512);
}
