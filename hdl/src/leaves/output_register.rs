use rust_hdl_core::prelude::*;

/// The register behind a [`Ram`](super::Ram)'s read_data, for W bits.
///
/// | port | direction | width | meaning |
/// |------|-----------|-------|---------|
/// | clock | in | 1 | clock, rising edge |
/// | rst | in | 1 | reset: q becomes zero |
/// | d | in | W | read_data |
/// | q | out | W | the same, one cycle later |
///
/// Latency one cycle, except with the define `DELTALINE_REGISTERED_RAM_MACRO`, when the memory has that cycle and this
/// is a wire. What it holds behind a reset does not matter, since a memory has no reset. Parameter: W. Cost: one
/// flip-flop a bit, or nothing. Tested as part of the lda, both ways.
#[derive(LogicBlock, Default)]
pub struct OutputRegister<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub d: Signal<In, Bits<W>>,
    pub q: Signal<Out, Bits<W>>,
}

impl<const W: usize> Logic for OutputRegister<W> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.q.next = if self.rst.val() { Bits::default() } else { self.d.val() };
        }
    }

    fn connect(&mut self) {
        self.q.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "`ifdef DELTALINE_REGISTERED_RAM_MACRO
always @(*) q = d;
`else
always @(posedge clock) begin
    if (rst) q <= {W}'h0;
    else q <= d;
end
`endif
"
        ))
    }
}
