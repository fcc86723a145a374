use crate::module::module;
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::classifier::{Entry, WORDS};
use deltaline_model::packet::identity::KEY_BITS;
use rust_hdl_core::prelude::*;
use std::fmt::Write;

/// Classifier: the measurement class of a packet with this key, if any.
///
/// Twin of `deltaline_model::packet::classifier`. Every entry is a comparison of the bits that it looks at with constants; as
/// entries of different classes exclude each other, the classes of those that match are or-ed.
///
/// | port    | direction | width | meaning |
/// |---------|-----------|-------|---------|
/// | clk     | in  | 1   | clock, rising edge |
/// | key     | in  | 544 | the key, word i in bits 32i+31:32i |
/// | matched | out | 1   | one cycle later: the packet is of a class |
/// | kind    | out | 2   | and of this one; else 0 |
///
/// Latency one cycle, one key a cycle. No parameters; the configuration's entries become constants, and only words that
/// an entry looks at are built. Without entries the outputs are constant: every packet is of class 0. Tested in
/// `sim/cosim`: keys that match an entry but for one bit, and random keys; with the cores of several classes.
#[derive(LogicBlock)]
pub struct Classifier {
    pub clk: Signal<In, Clock>,
    pub key: Signal<In, Bits<KEY_BITS>>,
    pub matched: Signal<Out, Bit>,
    pub kind: Signal<Out, Bits<2>>,
    _entries: Vec<Entry>,
}

impl Classifier {
    /// The classifier of a configuration.
    pub fn new(configuration: &Configuration) -> Self {
        module! { Classifier {
            _entries: configuration.classifier().entries().to_vec(),
        }
            clk key matched kind
        }
    }
}

impl Logic for Classifier {
    fn update(&mut self) {
        if self.clk.pos_edge() {
            let key = self.key.val();
            let matches = |entry: &&Entry| {
                (0..WORDS).all(|word| {
                    let mask = entry.mask[word];
                    mask == 0 || key.get_bits::<32>(word * 32).to_u32() & mask == entry.value[word]
                })
            };
            let class = self._entries.iter().find(matches).map(|entry| u64::from(entry.class));
            self.matched.next = class.is_some() || self._entries.is_empty();
            self.kind.next = class.unwrap_or(0).into();
        }
    }

    fn connect(&mut self) {
        self.matched.connect();
        self.kind.connect();
    }

    fn hdl(&self) -> Verilog {
        let mut text = String::new();
        for (index, entry) in self._entries.iter().enumerate() {
            let words = (0..WORDS).filter(|&word| entry.mask[word] != 0).map(|word| {
                let (low, mask, value) = (32 * word, entry.mask[word], entry.value[word]);
                format!("\n    & ((key[{}:{low}] & 32'h{mask:08x}) == 32'h{value:08x})", low + 31)
            });
            let _ = writeln!(text, "wire match_{index} = 1'b1{};", words.collect::<String>());
        }
        let any = |is_wanted: &dyn Fn(&Entry) -> bool| {
            let entries = self._entries.iter().enumerate().filter(|(_, entry)| is_wanted(entry));
            let terms: Vec<String> = entries.map(|(index, _)| format!("match_{index}")).collect();
            if terms.is_empty() { "1'b0".to_string() } else { terms.join(" | ") }
        };
        let matched = if self._entries.is_empty() { "1'b1".to_string() } else { any(&|_| true) };
        let _ = write!(
            text,
            "always @(posedge clk) begin\n    matched <= {matched};\n    kind[0] <= {};\n    kind[1] <= {};\nend\n",
            any(&|entry| entry.class & 1 != 0),
            any(&|entry| entry.class & 2 != 0),
        );
        Verilog::Custom(text)
    }
}
