use deltaline_model::packet::identity::{KEY_BITS, KEY_WORDS};
use rust_hdl_core::prelude::*;

/// The words of a key side by side. Combinational.
///
/// | port | direction | width | meaning |
/// |------|-----------|-------|---------|
/// | word$0 ... word$16 | in | 32 | the key, first word first |
/// | key | out | 544 | word i in bits 32i+31:32i |
///
/// Cost: wires. Tested in every core.
#[derive(LogicBlock, Default)]
pub struct KeyVector {
    pub word: [Signal<In, Bits<32>>; KEY_WORDS],
    pub key: Signal<Out, Bits<KEY_BITS>>,
}

impl Logic for KeyVector {
    fn update(&mut self) {
        let key = self.word.iter().rev().fold(Bits::<KEY_BITS>::default(), |key, word| {
            (key << 32u64) | bit_cast::<KEY_BITS, 32>(word.val())
        });
        self.key.next = key;
    }

    fn connect(&mut self) {
        self.key.connect();
    }

    fn hdl(&self) -> Verilog {
        // Word by word: simulators build a concatenation this wide by copying all of it for every part.
        let parts = (0..KEY_WORDS).map(|i| format!("    key[{}:{}] = word${i};\n", 32 * i + 31, 32 * i));
        Verilog::Custom(format!("always @(*) begin\n{}end\n", parts.collect::<String>()))
    }
}
