use deltaline_model::sketch::cell::SUM_BITS;
use rust_hdl_core::prelude::*;

const SUM: usize = SUM_BITS as usize;
const COUNT: usize = 32;
const FIELD: usize = 32;

/// Where the fields of a cell lie in its word of S bits, the lowest first.
fn places(fields: usize) -> impl Iterator<Item = (String, usize, usize)> {
    let fields = (0..fields).map(|i| (format!("field${i}"), SUM + COUNT + FIELD * i, FIELD));
    [("sum".to_string(), 0, SUM), ("count".to_string(), SUM, COUNT)].into_iter().chain(fields)
}

/// A cell's word apart. Combinational.
///
/// | port | direction | width | meaning |
/// |------|-----------|-------|---------|
/// | word | in | S | the cell as `deltaline_model::sketch::cell` lays it out |
/// | sum | out | 40 | its timestamp sum |
/// | count | out | 32 | its packets |
/// | field$0 ... | out | 32 | its further fields, such as the digest sum |
///
/// Parameters: D, further fields; S = 72 + 32 D. Cost: wires. Tested in every core.
#[derive(LogicBlock)]
pub struct CellFields<const S: usize, const D: usize> {
    pub word: Signal<In, Bits<S>>,
    pub sum: Signal<Out, Bits<SUM>>,
    pub count: Signal<Out, Bits<COUNT>>,
    pub field: [Signal<Out, Bits<FIELD>>; D],
}

/// A cell's word of its fields: the ports of [`CellFields`] in the other direction. Combinational.
#[derive(LogicBlock)]
pub struct CellWord<const S: usize, const D: usize> {
    pub word: Signal<Out, Bits<S>>,
    pub sum: Signal<In, Bits<SUM>>,
    pub count: Signal<In, Bits<COUNT>>,
    pub field: [Signal<In, Bits<FIELD>>; D],
}

impl<const S: usize, const D: usize> Default for CellFields<S, D> {
    fn default() -> Self {
        crate::module::module! { CellFields {} word sum count; each field }
    }
}

impl<const S: usize, const D: usize> Default for CellWord<S, D> {
    fn default() -> Self {
        crate::module::module! { CellWord {} word sum count; each field }
    }
}

impl<const S: usize, const D: usize> Logic for CellFields<S, D> {
    fn update(&mut self) {
        let word = self.word.val();
        self.sum.next = word.get_bits::<SUM>(0);
        self.count.next = word.get_bits::<COUNT>(SUM);
        for (i, field) in self.field.iter_mut().enumerate() {
            field.next = word.get_bits::<FIELD>(SUM + COUNT + FIELD * i);
        }
    }

    fn connect(&mut self) {
        self.sum.connect();
        self.count.connect();
        self.field.iter_mut().for_each(Signal::connect);
    }

    fn hdl(&self) -> Verilog {
        let parts = places(D).map(|(name, at, width)| format!("    {name} = word[{at} +: {width}];\n"));
        Verilog::Custom(format!("always @(*) begin\n{}end\n", parts.collect::<String>()))
    }
}

impl<const S: usize, const D: usize> Logic for CellWord<S, D> {
    fn update(&mut self) {
        let word =
            bit_cast::<S, SUM>(self.sum.val()) | (bit_cast::<S, COUNT>(self.count.val()) << SUM as u64);
        let place = |i: usize| (SUM + COUNT + FIELD * i) as u64;
        self.word.next = self
            .field
            .iter()
            .enumerate()
            .fold(word, |word, (i, field)| word | (bit_cast::<S, FIELD>(field.val()) << place(i)));
    }

    fn connect(&mut self) {
        self.word.connect();
    }

    fn hdl(&self) -> Verilog {
        let parts = places(D).map(|(name, at, width)| format!("    word[{at} +: {width}] = {name};\n"));
        Verilog::Custom(format!("always @(*) begin\n{}end\n", parts.collect::<String>()))
    }
}
