use crate::module::module;
use rust_hdl_core::prelude::*;
use std::fmt::Write;

/// A memory of constants: 2^A words of W bits (W <= 64).
///
/// | port  | direction | width | meaning |
/// |-------|-----------|-------|---------|
/// | clk   | in  | 1 | clock, rising edge |
/// | address  | in  | A | word to read |
/// | read_data     | out | W | its content one cycle later |
///
/// Bits that no word sets are constant zeros and cost nothing. The content is a case statement, which yosys turns
/// into block RAM with initial content on an FPGA (256 words x 16 bits: one iCE40 block RAM); an ASIC gets logic.
/// Tested as part of the byte core. Parameters: W and A.
#[derive(LogicBlock)]
pub struct Rom<const W: usize, const A: usize> {
    pub clk: Signal<In, Clock>,
    pub address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, Bits<W>>,
    _words: Vec<u64>,
}

impl<const W: usize, const A: usize> Rom<W, A> {
    /// A memory with `words` from address 0 on and zeros behind them; bits above W and words above 2^A are left out.
    pub fn new(words: &[u64]) -> Self {
        let mut words: Vec<u64> = words.iter().map(|word| word & (u64::MAX >> (64 - W))).collect();
        words.resize(1 << A, 0);
        module! { Rom {
            _words: words,
        }
            clk address read_data
        }
    }
}

impl<const W: usize, const A: usize> Logic for Rom<W, A> {
    fn update(&mut self) {
        if self.clk.pos_edge() {
            self.read_data.next = self._words[self.address.val().index()].into();
        }
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        let used = self._words.iter().fold(0, |used, word| used | word);
        let bits: Vec<usize> = (0..W).rev().filter(|bit| used >> bit & 1 == 1).collect();
        let mut text = String::from("always @(posedge clk) begin\n");
        for bit in (0..W).filter(|bit| used >> bit & 1 == 0) {
            let _ = writeln!(text, "    read_data[{bit}] <= 1'b0;");
        }
        if !bits.is_empty() {
            let width = bits.len();
            let target: Vec<String> = bits.iter().map(|bit| format!("read_data[{bit}]")).collect();
            let target = format!("{{{}}}", target.join(", "));
            text += "    case (address)\n";
            for (address, word) in self._words.iter().enumerate().filter(|(_, word)| **word != 0) {
                let packed = bits.iter().fold(0, |packed, bit| packed << 1 | (word >> bit & 1));
                let _ = writeln!(text, "    {A}'h{address:x}: {target} <= {width}'h{packed:x};");
            }
            let _ = writeln!(text, "    default: {target} <= {width}'h0;");
            text += "    endcase\n";
        }
        text += "end\n";
        Verilog::Custom(text)
    }
}
