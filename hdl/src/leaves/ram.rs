use crate::module::module;
use rust_hdl_core::prelude::*;

/// A memory of 2^A words of W bits (W <= 64) with one write port and one read port on one clock.
///
/// | port  | direction | width | meaning |
/// |-------|-----------|-------|---------|
/// | clk   | in  | 1 | clock, rising edge |
/// | read_address  | in  | A | word to read |
/// | read_data     | out | W | its content one cycle later |
/// | write_enable  | in  | 1 | write in this cycle |
/// | write_address | in  | A | word to write |
/// | write_data    | in  | W | its new content |
///
/// A read and a write of the same word in the same cycle return anything: the user forwards instead, which is what
/// the attribute tells synthesis. The content starts as zero in FPGAs and simulation; nothing relies on it, because
/// the core clears both copies after reset. Tested as part of the lda. Parameters: W and A. Cost of 36 bits
/// x 2048: 18 iCE40 or 4 ECP5 block RAMs.
///
/// **This is the seam for a memory macro**: with the define `DELTALINE_RAM_MACRO` the body becomes an instance of
/// a module `<prefix>_ram_macro`, which the user supplies, with these ports and the parameters WIDTH and ADDRESS.
/// The package of a design holds a model of it (`crate::emit::package`); both ways are in its test plan.
///
/// With P, the memory's user has an [`OutputRegister`](super::OutputRegister) behind read_data and nothing else. Many
/// memories hold such a register of their own, faster than one beside them: with the define
/// `DELTALINE_REGISTERED_RAM_MACRO` the body becomes an instance of `<prefix>_registered_ram_macro`, whose data come
/// two cycles behind the address, and the register outside becomes a wire. `hdl/ecp5` holds that macro for ECP5.
#[derive(LogicBlock)]
pub struct Ram<const W: usize, const A: usize, const P: bool> {
    pub clk: Signal<In, Clock>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, Bits<W>>,
    pub write_enable: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, Bits<W>>,
    _words: Vec<Bits<W>>,
}

impl<const W: usize, const A: usize, const P: bool> Default for Ram<W, A, P> {
    fn default() -> Self {
        module! { Ram {
            _words: vec![Bits::default(); 1 << A],
        }
            clk read_address read_data write_enable write_address write_data
        }
    }
}

impl<const W: usize, const A: usize, const P: bool> Logic for Ram<W, A, P> {
    fn update(&mut self) {
        if self.clk.pos_edge() {
            self.read_data.next = self._words[self.read_address.val().index()];
            if self.write_enable.val() {
                self._words[self.write_address.val().index()] = self.write_data.val();
            }
        }
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        // Emission makes the prefix of `top`.
        let registered = if P {
            format!(
                "`ifdef DELTALINE_REGISTERED_RAM_MACRO
wire [{w}:0] word;
top$registered_ram_macro #(.WIDTH({W}), .ADDRESS({A})) words(.clk(clk), .read_address(read_address), .read_data(word),
    .write_enable(write_enable), .write_address(write_address), .write_data(write_data));
always @(*) read_data = word;
`elsif DELTALINE_RAM_MACRO
",
                w = W - 1
            )
        } else {
            "`ifdef DELTALINE_RAM_MACRO\n".to_string()
        };
        Verilog::Custom(format!(
            "{registered}\
wire [{w}:0] word;
top$ram_macro #(.WIDTH({W}), .ADDRESS({A})) words(.clk(clk), .read_address(read_address), .read_data(word),
    .write_enable(write_enable), .write_address(write_address), .write_data(write_data));
always @(*) read_data = word;
`else
(* no_rw_check *)
reg [{w}:0] words [0:{last}];
integer i;
initial begin
    for (i = 0; i <= {last}; i = i + 1) words[i] = {W}'h0;
end
always @(posedge clk) begin
    read_data <= words[read_address];
    if (write_enable) words[write_address] <= write_data;
end
`endif
",
            w = W - 1,
            last = (1usize << A) - 1,
        ))
    }
}
