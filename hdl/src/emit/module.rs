//! A configuration's core, or one of its stages, as a Verilog file that drops into a design.
//!
//! # Test plan
//!
//! Golden file of the default configuration; two emissions are equal; Verilator `-Wall` under the waivers, Icarus and
//! yosys accept it (`cargo xtask test`). Every size: `hdl/tests/sizes.rs`.

use crate::emit::block::emit_block;
use crate::emit::header::header;
use crate::emit::kind::Module;
use crate::emit::refusal::EmitError;
use crate::emit::sizes::{self, Emission};
use crate::emit::stages::{Classified, Clocked};
use crate::identity::Identity;
use crate::identity::wide::{Identity256, Identity512};
use crate::leaves::Classifier;
use crate::point::core::Core;
use crate::point::wide_core::{Core256, Core512};
use crate::sketch::digest;
use crate::sketch::flow_rows::FlowRows;
use crate::sketch::flow_vector::FlowVector;
use crate::sketch::identity_table::IdentityTable;
use crate::sketch::lda::Lda;
use crate::sketch::lda_identity::LdaIdentity;
use crate::sketch::place::{self, Place};
use crate::sketch::sampler::Sampler;
use crate::sketch::slices::Slices;
use deltaline_design::{CellKind, CoreKind, Refusal};
use deltaline_model::configuration::Configuration;

/// The Verilog of one module of a configuration, with all names prefixed by `name`.
///
/// # Errors
///
/// [`EmitError`] when the hardware is not built for the configuration's sizes or `name` is no identifier.
pub fn emit(configuration: &Configuration, module: Module, name: &str) -> Result<String, EmitError> {
    let body = with_room(|| Request { configuration, module, name }.body())?;
    let what = format!("stage {module:?}");
    Ok(format!("{}\n{}", header(configuration, &what, name, &body), body))
}

/// What is asked for.
#[derive(Clone, Copy)]
struct Request<'a> {
    configuration: &'a Configuration,
    module: Module,
    name: &'a str,
}

impl Request<'_> {
    fn body(self) -> Result<String, EmitError> {
        let Request { configuration, module, name } = self;
        let cells = CellKind::of_configuration(configuration);
        match module {
            Module::Identity => emit_block(&mut Identity::new(configuration), name),
            Module::Identity256 => emit_block(&mut Identity256::new(configuration), name),
            Module::Identity512 => emit_block(&mut Identity512::new(configuration), name),
            Module::Classifier => emit_block(&mut Classified::new(Classifier::new(configuration)), name),
            Module::Hash => emit_block(&mut Clocked::new(place::outer_bits(configuration)), name),
            Module::Place => emit_block(&mut Place::new(configuration), name),
            Module::Digest => emit_block(&mut digest::digest(configuration, 0), name),
            Module::Core => self.core(CoreKind::Bits64),
            Module::Core256 => self.core(CoreKind::Bits256),
            Module::Core512 => self.core(CoreKind::Bits512),
            Module::TwoLanes512 => self.core(CoreKind::TwoLanes512),
            Module::FourLanes512 => self.core(CoreKind::FourLanes512),
            Module::IdentityTable => {
                let size = CoreKind::Bits64.size_of_stages(configuration, CellKind::IdentityTable)?;
                sizes::identity(size, Stage(self))
            }
            Module::LdaIdentity => {
                let size = CoreKind::Bits64.size_of_stages(configuration, CellKind::LdaIdentity)?;
                sizes::lda_identity(size, Stage(self))
            }
            Module::FlowRows => {
                let size = CoreKind::Bits64.size_of_stages(configuration, CellKind::FlowRows)?;
                sizes::flow_rows(size, Stage(self))
            }
            Module::FlowVector => {
                let size = CoreKind::Bits64.size_of_stages(configuration, CellKind::FlowVector)?;
                sizes::flow_vector(size, Stage(self))
            }
            Module::Slices => {
                let size = CoreKind::Bits64.size_of_stages(configuration, CellKind::Slices)?;
                sizes::slices(size, Stage(self))
            }
            Module::Lda if cells == CellKind::Digests => {
                sizes::narrow_digests(CoreKind::Bits64.size(configuration)?, Stage(self))
            }
            // They are the same with digests and without.
            Module::Sampler | Module::Lda => {
                sizes::narrow(CoreKind::Bits64.size_of_stages(configuration, CellKind::Lda)?, Stage(self))
            }
        }
    }

    fn core(self, core: CoreKind) -> Result<String, EmitError> {
        let size = core.size(self.configuration)?;
        match (core, CellKind::of_configuration(self.configuration)) {
            (CoreKind::Byte | CoreKind::Bits64, CellKind::Lda) => sizes::narrow(size, Narrow(self)),
            (CoreKind::Byte | CoreKind::Bits64, CellKind::Digests) => {
                sizes::narrow_digests(size, NarrowDigests(self))
            }
            (CoreKind::Bits256 | CoreKind::Bits512, CellKind::Lda) => sizes::wide(size, Wide(self)),
            (CoreKind::TwoLanes512 | CoreKind::FourLanes512, CellKind::Lda) => {
                sizes::lanes(size, Lanes(self))
            }
            (_, CellKind::Digests) => sizes::wide_digests(size, WideDigests(self)),
            // Built for one lane of 64 bits alone, but for cells of flows.
            (_, CellKind::FineComb) => sizes::finecomb(size, FineComb(self)),
            (_, CellKind::IdentityTable) => sizes::identity(size, WithIdentityTable(self)),
            (_, CellKind::LdaIdentity) => sizes::lda_identity(size, WithLdaIdentity(self)),
            (_, CellKind::FlowRows) => sizes::flow_rows(size, WithFlowRows(self)),
            (_, CellKind::FlowVector) => sizes::flow_vector(size, WithFlowVector(self)),
            (_, CellKind::Slices) => sizes::slices(size, WithSlices(self)),
            (_, cells @ (CellKind::Rda | CellKind::Srda)) => Err(Refusal::SoftwareOnly { cells }.into()),
        }
    }
}

struct Stage<'a>(Request<'a>);

impl Emission for Stage<'_> {
    fn emit<const R: usize, const A: usize, const C: usize, const T: usize>(
        self,
    ) -> Result<String, EmitError> {
        let Request { configuration, module, name } = self.0;
        match module {
            Module::IdentityTable => emit_block(&mut IdentityTable::<R, A, 168>::new(configuration), name),
            Module::LdaIdentity => emit_block(&mut LdaIdentity::<R, A, T>::new(configuration), name),
            Module::FlowRows => emit_block(&mut FlowRows::<R, A>::new(configuration), name),
            Module::FlowVector => emit_block(&mut FlowVector::<R>::new(configuration), name),
            Module::Slices => emit_block(&mut Slices::<R, T>::new(configuration), name),
            Module::Sampler => emit_block(&mut Sampler::<R, A>::new(configuration), name),
            _ if configuration.has_digests() => emit_block(&mut Lda::<A, 104, 1>::default(), name),
            _ => emit_block(&mut Lda::<A>::default(), name),
        }
    }
}

struct Narrow<'a>(Request<'a>);

impl Emission for Narrow<'_> {
    fn emit<const R: usize, const A: usize, const C: usize, const T: usize>(
        self,
    ) -> Result<String, EmitError> {
        emit_block(&mut Core::<R, A, C>::new(self.0.configuration), self.0.name)
    }
}

struct NarrowDigests<'a>(Request<'a>);

impl Emission for NarrowDigests<'_> {
    fn emit<const R: usize, const A: usize, const C: usize, const T: usize>(
        self,
    ) -> Result<String, EmitError> {
        emit_block(&mut Core::<R, A, C, 104, 1>::new(self.0.configuration), self.0.name)
    }
}

struct FineComb<'a>(Request<'a>);

impl Emission for FineComb<'_> {
    fn emit<const R: usize, const A: usize, const C: usize, const T: usize>(
        self,
    ) -> Result<String, EmitError> {
        emit_block(&mut Core::<R, A, C, 136, 2, 1>::new(self.0.configuration), self.0.name)
    }
}

struct WithIdentityTable<'a>(Request<'a>);

impl Emission for WithIdentityTable<'_> {
    fn emit<const R: usize, const A: usize, const C: usize, const T: usize>(
        self,
    ) -> Result<String, EmitError> {
        emit_block(&mut Core::<R, A, C, 168, 3, 0, 0, 1>::new(self.0.configuration), self.0.name)
    }
}

struct WithLdaIdentity<'a>(Request<'a>);

impl Emission for WithLdaIdentity<'_> {
    fn emit<const R: usize, const A: usize, const C: usize, const T: usize>(
        self,
    ) -> Result<String, EmitError> {
        emit_block(&mut Core::<R, A, C, 72, 0, 0, 0, 0, 1, T>::new(self.0.configuration), self.0.name)
    }
}

struct WithFlowRows<'a>(Request<'a>);

impl Emission for WithFlowRows<'_> {
    fn emit<const R: usize, const A: usize, const C: usize, const T: usize>(
        self,
    ) -> Result<String, EmitError> {
        let Request { configuration, module, name } = self.0;
        match module {
            Module::Core512 => emit_block(&mut Core512::<R, A, 1, C, 104, 1, 0, 1>::new(configuration), name),
            _ => emit_block(&mut Core::<R, A, C, 104, 1, 1, 0, 0, 0, R, 1>::new(configuration), name),
        }
    }
}

struct WithFlowVector<'a>(Request<'a>);

impl Emission for WithFlowVector<'_> {
    fn emit<const R: usize, const A: usize, const C: usize, const T: usize>(
        self,
    ) -> Result<String, EmitError> {
        let Request { configuration, module, name } = self.0;
        // One vector: an address is that of a counter.
        match module {
            Module::Core512 => {
                emit_block(&mut Core512::<R, R, 1, C, 72, 0, 0, 0, 1>::new(configuration), name)
            }
            _ => emit_block(&mut Core::<R, R, C, 72, 0, 0, 0, 0, 0, R, 0, 1>::new(configuration), name),
        }
    }
}

struct WithSlices<'a>(Request<'a>);

impl Emission for WithSlices<'_> {
    fn emit<const R: usize, const A: usize, const C: usize, const T: usize>(
        self,
    ) -> Result<String, EmitError> {
        let Request { configuration, module, name } = self.0;
        // One table: an address is that of a word.
        match module {
            Module::Core256 => emit_block(&mut Core256::<R, R, C, 72, 0, 0, 1, T>::new(configuration), name),
            Module::Core512 => {
                emit_block(&mut Core512::<R, R, 1, C, 72, 0, 0, 0, 0, 1, T>::new(configuration), name)
            }
            _ => emit_block(&mut Core::<R, R, C, 72, 0, 0, 0, 0, 0, T, 0, 0, 1>::new(configuration), name),
        }
    }
}

struct Wide<'a>(Request<'a>);

impl Emission for Wide<'_> {
    fn emit<const R: usize, const A: usize, const C: usize, const T: usize>(
        self,
    ) -> Result<String, EmitError> {
        let Request { configuration, module, name } = self.0;
        match module {
            Module::Core256 => emit_block(&mut Core256::<R, A, C>::new(configuration), name),
            _ => emit_block(&mut Core512::<R, A, 1, C>::new(configuration), name),
        }
    }
}

struct Lanes<'a>(Request<'a>);

impl Emission for Lanes<'_> {
    fn emit<const R: usize, const A: usize, const C: usize, const T: usize>(
        self,
    ) -> Result<String, EmitError> {
        let Request { configuration, module, name } = self.0;
        match module {
            Module::TwoLanes512 => emit_block(&mut Core512::<R, A, 2, C>::new(configuration), name),
            _ => emit_block(&mut Core512::<R, A, 4, C>::new(configuration), name),
        }
    }
}

struct WideDigests<'a>(Request<'a>);

impl Emission for WideDigests<'_> {
    fn emit<const R: usize, const A: usize, const C: usize, const T: usize>(
        self,
    ) -> Result<String, EmitError> {
        let Request { configuration, module, name } = self.0;
        match module {
            Module::Core256 => emit_block(&mut Core256::<R, A, C, 104, 1>::new(configuration), name),
            Module::Core512 => emit_block(&mut Core512::<R, A, 1, C, 104, 1>::new(configuration), name),
            Module::TwoLanes512 => emit_block(&mut Core512::<R, A, 2, C, 104, 1>::new(configuration), name),
            _ => emit_block(&mut Core512::<R, A, 4, C, 104, 1>::new(configuration), name),
        }
    }
}

/// Runs emission on a stack of its own: RustHDL's blocks are values, those of wide cores of several megabytes.
fn with_room(emission: impl FnOnce() -> Result<String, EmitError> + Send) -> Result<String, EmitError> {
    const STACK: usize = 1 << 29;
    let failed = |what: &dyn std::fmt::Debug| EmitError::Design(format!("emission failed: {what:?}"));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, emission);
        let thread = thread.map_err(|error| failed(&error))?;
        thread.join().map_err(|panic| failed(&panic.downcast_ref::<&str>()))?
    })
}
