use rust_hdl_core::prelude::*;

/// The bytes of a beat as 32-bit words that start two bytes into the frame. Combinational.
///
/// | port | direction | width | meaning |
/// |------|-----------|-------|---------|
/// | data | in | B | the beat, first byte in bits 7:0 |
/// | keep | in | K | which bytes are there; the others read as zero |
/// | preceding | in | 16 | the two bytes before the beat, the first in bits 15:8 |
/// | words | out | B | N words, the first in bits 31:0, its first byte on the wire in bits 31:24 |
/// | whole | out | N | which words have all their bytes in or before the beat |
/// | behind | out | 16 | the last two bytes of the beat |
///
/// Parameters: N words, B = 32 N bits, K = 4 N bytes. Cost: B AND gates. Tested as part of the wide identity stage.
#[derive(LogicBlock, Default)]
pub struct BeatWords<const N: usize, const B: usize, const K: usize> {
    pub data: Signal<In, Bits<B>>,
    pub keep: Signal<In, Bits<K>>,
    pub preceding: Signal<In, Bits<16>>,
    pub words: Signal<Out, Bits<B>>,
    pub whole: Signal<Out, Bits<N>>,
    pub behind: Signal<Out, Bits<16>>,
}

impl<const N: usize, const B: usize, const K: usize> Logic for BeatWords<N, B, K> {
    fn update(&mut self) {
        let (data, keep, preceding) = (self.data.val(), self.keep.val(), self.preceding.val().to_u32());
        let byte =
            |index: usize| if keep.get_bit(index) { data.get_bits::<8>(8 * index).to_u32() } else { 0 };
        let mut words = Bits::<B>::default();
        let mut whole = Bits::<N>::default();
        for index in (0..N).rev() {
            let high = if index == 0 { preceding } else { byte(4 * index - 2) << 8 | byte(4 * index - 1) };
            let word = high << 16 | byte(4 * index) << 8 | byte(4 * index + 1);
            words = (words << 32u64) | bit_cast::<B, 32>(u64::from(word).into());
            whole = whole.replace_bit(index, keep.get_bit(4 * index + 1));
        }
        self.words.next = words;
        self.whole.next = whole;
        self.behind.next = u64::from(byte(K - 2) << 8 | byte(K - 1)).into();
    }

    fn connect(&mut self) {
        self.words.connect();
        self.whole.connect();
        self.behind.connect();
    }

    fn hdl(&self) -> Verilog {
        let byte = |index: usize| format!("byte_{index}");
        let mut text = String::new();
        for index in 0..K {
            let low = 8 * index;
            let name = byte(index);
            text += &format!("wire [7:0] {name} = keep[{index}] ? data[{}:{low}] : 8'h0;\n", low + 7);
        }
        let word = |index: usize| {
            let high = match index {
                0 => "preceding".to_string(),
                _ => format!("{}, {}", byte(4 * index - 2), byte(4 * index - 1)),
            };
            format!("{high}, {}, {}", byte(4 * index), byte(4 * index + 1))
        };
        let words: Vec<String> = (0..N).rev().map(word).collect();
        let whole: Vec<String> = (0..N).rev().map(|index| format!("keep[{}]", 4 * index + 1)).collect();
        text += &format!(
            "always @(*) begin\n    words = {{{}}};\n    whole = {{{}}};\n    behind = {{{}, {}}};\nend\n",
            words.join(",\n        "),
            whole.join(", "),
            byte(K - 2),
            byte(K - 1)
        );
        Verilog::Custom(text)
    }
}
