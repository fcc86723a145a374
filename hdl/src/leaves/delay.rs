use crate::module::module;
use rust_hdl_core::prelude::*;

/// W bits (W <= 64), D cycles later (D >= 1).
///
/// | port | direction | width | meaning |
/// |------|-----------|-------|---------|
/// | clk | in | 1 | clock, rising edge |
/// | rst | in | 1 | reset: what is under way becomes zero |
/// | d | in | W | value |
/// | q | out | W | the value D cycles ago |
///
/// Latency D cycles. Cost: W × D flip-flops. Tested in every module that waits.
#[derive(LogicBlock)]
pub struct Delay<const W: usize, const D: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub d: Signal<In, Bits<W>>,
    pub q: Signal<Out, Bits<W>>,
    /// Oldest value last; one less than D, because q is the last.
    _line: Vec<Bits<W>>,
}

impl<const W: usize, const D: usize> Default for Delay<W, D> {
    fn default() -> Self {
        module! { Delay {
            _line: vec![Bits::default(); D.saturating_sub(1)],
        }
            clk rst d q
        }
    }
}

impl<const W: usize, const D: usize> Logic for Delay<W, D> {
    fn update(&mut self) {
        if self.clk.pos_edge() {
            let reset = self.rst.val();
            let entering = if reset { Bits::default() } else { self.d.val() };
            if reset {
                self._line.fill(Bits::default());
            }
            self._line.insert(0, entering);
            let leaving = self._line.pop();
            self.q.next = leaving.unwrap_or_default();
        }
    }

    fn connect(&mut self) {
        self.q.connect();
    }

    fn hdl(&self) -> Verilog {
        let mut text = String::new();
        let stage = |index: usize| if index == D { "q".to_string() } else { format!("stage_{index}") };
        for index in 1..D {
            text += &format!("reg [{}:0] {};\n", W - 1, stage(index));
        }
        text += "always @(posedge clk) begin\n    if (rst) begin\n";
        for index in 1..=D {
            text += &format!("        {} <= {W}'h0;\n", stage(index));
        }
        text += "    end else begin\n";
        for index in 1..=D {
            let from = if index == 1 { "d".to_string() } else { stage(index - 1) };
            text += &format!("        {} <= {from};\n", stage(index));
        }
        text += "    end\nend\n";
        Verilog::Custom(text)
    }
}
