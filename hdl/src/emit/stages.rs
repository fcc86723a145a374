//! Stages that cannot be RustHDL's top module, wrapped to stand alone.
//!
//! The key comes word by word into a [`KeyVector`], as in the core; so a stage's own test bench sees what it sees there.

use crate::leaves::{Classifier, HashMatrix, KeyVector};
use rust_hdl_core::prelude::*;

/// A leaf cannot be RustHDL's top module; this wraps the hash for its own test bench.
#[derive(LogicBlock)]
pub struct Clocked {
    pub clk: Signal<In, Clock>,
    pub word: [Signal<In, Bits<32>>; 17],
    pub bits: Signal<Out, Bits<32>>,
    vector: KeyVector,
    matrix: HashMatrix,
}

impl Clocked {
    /// Wraps a hash.
    pub fn new(matrix: HashMatrix) -> Self {
        Clocked {
            clk: Default::default(),
            word: Default::default(),
            bits: Default::default(),
            vector: Default::default(),
            matrix,
        }
    }
}

impl Logic for Clocked {
    #[hdl_gen]
    fn update(&mut self) {
        self.matrix.clk.next = self.clk.val();
        for i in 0..17 {
            self.vector.word[i].next = self.word[i].val();
        }
        self.matrix.key.next = self.vector.key.val();
        self.bits.next = self.matrix.bits.val();
    }
}

/// The same for the classifier.
#[derive(LogicBlock)]
pub struct Classified {
    pub clk: Signal<In, Clock>,
    pub word: [Signal<In, Bits<32>>; 17],
    pub matched: Signal<Out, Bit>,
    pub kind: Signal<Out, Bits<2>>,
    vector: KeyVector,
    classifier: Classifier,
}

impl Classified {
    /// Wraps a classifier.
    pub fn new(classifier: Classifier) -> Self {
        Classified {
            clk: Default::default(),
            word: Default::default(),
            matched: Default::default(),
            kind: Default::default(),
            vector: Default::default(),
            classifier,
        }
    }
}

impl Logic for Classified {
    #[hdl_gen]
    fn update(&mut self) {
        self.classifier.clk.next = self.clk.val();
        for i in 0..17 {
            self.vector.word[i].next = self.word[i].val();
        }
        self.classifier.key.next = self.vector.key.val();
        self.matched.next = self.classifier.matched.val();
        self.kind.next = self.classifier.kind.val();
    }
}
