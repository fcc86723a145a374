use super::shared_parity::SharedParity;
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::hash::LinearHash;
use deltaline_model::packet::identity::{KEY_BITS, KEY_WORDS};
use rust_hdl_core::prelude::*;
use std::fmt::Write;

/// Hash bits that a matrix gives.
const BITS: usize = 32;

/// The hash: a linear map over GF(2) from the key to 32 bits of the 64-bit hash.
///
/// Twin of `deltaline_model::packet::hash`: the same table of rows, H3 or Rabin, read by columns. Every hash bit is the
/// parity of the key under a constant mask. The parity is taken in two steps: that of each key word, then the parity of
/// these seventeen. Within a word, sums that several hash bits need are taken once.
///
/// Emitted in two forms. Synthesis, and every other simulator, sees these gates. Verilator evaluates gates bit by bit, which
/// took three quarters of a simulated cycle: where its macro `VERILATOR` is defined, the leaf is one parity of the masked key
/// for each hash bit. `cargo xtask formal` proves both to be the model's matrix, two cycles late.
///
/// | port    | direction | width | meaning |
/// |---------|-----------|-------|---------|
/// | clk     | in  | 1       | clock, rising edge |
/// | key     | in  | 544     | the key, word i in bits 32i+31:32i |
/// | bits    | out | 32      | the hash bits that were asked for, two cycles later |
///
/// Latency two cycles, one key a cycle. No parameters. Cost: `docs/report.md`, by stage and by module. Tested in
/// `sim/cosim`: every key bit alone, and random keys, through either form.
///
/// The matrix is constant: another seed is another emission. One that is loaded at run time keeps a flip-flop and a
/// product for every key bit and hash bit. For each hash bit that is used, without any decoder of addresses (yosys,
/// before placement; gates are the area of osu018's NAND2X1):
///
/// | matrix | iCE40 | ECP5 | osu018 |
/// |--------|-------|------|--------|
/// | constant | 97 LUT4, 10 flip-flops | 104 LUT4, 10 flip-flops | 580 gates |
/// | loaded, shifted in by words | 368 LUT4, 554 flip-flops | 384 LUT4, 554 flip-flops | 5,380 gates |
///
/// With 32 bits that is 154,000 gates more for each lane, more than the rest of a core. A linear map has no cheaper
/// secret that is worth its name: a word added to the key or to the hash, which costs its flip-flops, moves packets to
/// other rows and banks, but packets that share a row share it under every such word. The core of 8 bits
/// ([`crate::byte::hash`]) has its matrix in block RAM, whose second port is free.
#[derive(LogicBlock)]
pub struct HashMatrix {
    pub clk: Signal<In, Clock>,
    pub key: Signal<In, Bits<KEY_BITS>>,
    pub bits: Signal<Out, Bits<BITS>>,
    /// One mask of 17 words for each output bit, lowest first.
    _masks: [[u32; KEY_WORDS]; BITS],
    _first: u32,
}

impl HashMatrix {
    /// The first 32 of these bits of a configuration's hash, lowest first; zeros behind them if there are fewer.
    pub fn new(configuration: &Configuration, mut hash_bits: impl Iterator<Item = u32>) -> Self {
        let hash = LinearHash::new(configuration.hash(), configuration.seed());
        HashMatrix {
            clk: Default::default(),
            key: Default::default(),
            bits: Default::default(),
            _masks: std::array::from_fn(|_| mask(&hash, hash_bits.next())),
            _first: 0,
        }
    }
}

/// The key bits that enter `hash_bit`; none for no bit.
fn mask(hash: &LinearHash, hash_bit: Option<u32>) -> [u32; KEY_WORDS] {
    let mut mask = [0; KEY_WORDS];
    if let Some(hash_bit) = hash_bit {
        for (key_bit, row) in hash.rows().iter().enumerate() {
            if row >> hash_bit & 1 == 1 {
                mask[key_bit / 32] |= 1 << (31 - key_bit % 32);
            }
        }
    }
    mask
}

impl Logic for HashMatrix {
    fn update(&mut self) {
        if self.clk.pos_edge() {
            let second = self._first;
            let key = self.key.val();
            let words: [u32; KEY_WORDS] = std::array::from_fn(|i| key.get_bits::<32>(i * 32).to_u32());
            self._first = self._masks.iter().enumerate().fold(0, |bits, (bit, mask)| {
                let parity = words.iter().zip(mask).fold(0, |sum, (word, mask)| sum ^ (word & mask));
                bits | (parity.count_ones() & 1) << bit
            });
            self.bits.next = u64::from(second).into();
        }
    }

    fn connect(&mut self) {
        self.bits.connect();
    }

    fn hdl(&self) -> Verilog {
        let (simulation, synthesis) = (self.simulation_form(), self.synthesis_form());
        Verilog::Custom(format!("`ifdef VERILATOR\n{simulation}`else\n{synthesis}`endif\n"))
    }
}

impl HashMatrix {
    /// One parity a hash bit, of the exclusive or of the key's parts of 64 bits under their masks: a few instructions.
    fn simulation_form(&self) -> String {
        let parities = self._masks.iter().rev().map(|mask| {
            let parts = mask.chunks(2).enumerate().filter(|(_, mask)| mask.iter().any(|&word| word != 0));
            let terms: Vec<String> = parts
                .map(|(part, mask)| match mask {
                    [low, high] => {
                        let mask = u64::from(*high) << 32 | u64::from(*low);
                        format!("key[{}:{}] & 64'h{mask:016x}", 64 * part + 63, 64 * part)
                    }
                    // The last word stands alone.
                    mask => {
                        let mask = mask.iter().fold(0, |_, &word| word);
                        format!("{{32'h0, key[{}:{}] & 32'h{mask:08x}}}", 64 * part + 31, 64 * part)
                    }
                })
                .collect();
            if terms.is_empty() { "    1'b0".into() } else { format!("    ^(({}))", terms.join(") ^ (")) }
        });
        let parities = parities.collect::<Vec<_>>().join(",\n");
        let last = BITS - 1;
        format!(
            "reg [{last}:0] hashed;\nalways @(posedge clk) begin\n    hashed <= {{\n{parities}\n    }};\n\
             \x20   bits <= hashed;\nend\n"
        )
    }

    /// Gates for every word and hash bit.
    fn synthesis_form(&self) -> String {
        let mut text = String::new();
        let mut parities = String::new();
        for bit in 0..self._masks.len() {
            let _ = writeln!(text, "reg [{}:0] parity_{bit};", KEY_WORDS - 1);
        }
        for word in 0..KEY_WORDS {
            let masks: Vec<u32> = self._masks.iter().map(|mask| mask[word]).collect();
            let shared = SharedParity::new(&masks);
            let term = |term: usize| match term.checked_sub(32) {
                None => format!("key[{}]", 32 * word + term),
                Some(pair) => format!("sum_{word}_{pair}"),
            };
            for (pair, &(left, right)) in shared.pairs.iter().enumerate() {
                let _ = writeln!(text, "wire sum_{word}_{pair} = {} ^ {};", term(left), term(right));
            }
            for (bit, output) in shared.outputs.iter().enumerate() {
                let parity = output.map_or("1'b0".to_string(), term);
                let _ = writeln!(parities, "    parity_{bit}[{word}] <= {parity};");
            }
        }
        text += "always @(posedge clk) begin\n";
        text += &parities;
        for bit in 0..self._masks.len() {
            let _ = writeln!(text, "    bits[{bit}] <= ^parity_{bit};");
        }
        text += "end\n";
        text
    }
}
