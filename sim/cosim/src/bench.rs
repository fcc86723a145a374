//! Bench: a Verilated module with a clock and a reset.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread::LocalKey;
use verilator_sys::{Direction, Effort, Instance, Model, Options, Port, Source, Toolchain, Trace};

/// Cycles of a waveform's file.
const WAVE_CYCLES: u64 = 10_000;
/// Of waveforms, in picoseconds.
const HALF_CYCLE: u64 = 500;

thread_local! {
    static FAULT: Cell<u64> = const { Cell::new(0) };
    static PRELOAD: Cell<u64> = const { Cell::new(0) };
}

/// Runs a check with one of the planted faults switched on in every bench that it makes: the value of their input
/// `fault`, which is 0 otherwise.
pub(crate) fn with_fault<T>(fault: u64, check: impl FnOnce() -> T) -> T {
    during(&FAULT, fault, check)
}

/// The same with an input `preload`, which says what reset and clearing leave in counters.
pub(crate) fn with_preload<T>(preload: u64, check: impl FnOnce() -> T) -> T {
    during(&PRELOAD, preload, check)
}

fn during<T>(input: &'static LocalKey<Cell<u64>>, value: u64, check: impl FnOnce() -> T) -> T {
    input.set(value);
    let result = check();
    input.set(0);
    result
}

/// Environment variable with the file of [`write_waves`].
pub const WAVE: &str = "DELTALINE_WAVE";

static WAVE_FILE: OnceLock<PathBuf> = OnceLock::new();

/// Lets every bench that starts from now on write its waveform into a file, the next one over the one before: behind a
/// mismatch it is that of the module that differs. The file holds the last 10,000 to 20,000 cycles at most: what is older is
/// gone, what is half as old is in a second file, whose name ends in `.before`. Slows simulation down by far.
pub fn write_waves(file: PathBuf) {
    // The first file stays.
    let _ = WAVE_FILE.set(file);
}

fn wave() -> Option<PathBuf> {
    WAVE_FILE.get().cloned().or_else(|| std::env::var_os(WAVE).map(PathBuf::from))
}

/// Builds a model, with waveforms if they are asked for.
///
/// # Errors
///
/// What Verilator says, or that it is missing.
pub(crate) fn build(
    toolchain: &Toolchain,
    top: &str,
    verilog: &str,
    effort: Effort,
) -> Result<Model, verilator_sys::Error> {
    let trace = if wave().is_some() { Trace::Vcd } else { Trace::None };
    Model::build(toolchain, &Source { top, verilog }, Options { trace, effort })
}

/// A module under simulation. Between ticks the clock is high: outputs are those behind the rising edge.
pub struct Bench {
    instance: Instance,
    clk: Port,
    rst: Option<Port>,
    cycles: u64,
    wave: Option<PathBuf>,
}

impl Bench {
    /// Builds `verilog` (or finds it built) and resets it.
    ///
    /// # Errors
    ///
    /// What Verilator says, or that it is missing.
    pub fn new(toolchain: &Toolchain, top: &str, verilog: &str) -> Result<Self, verilator_sys::Error> {
        Self::of(&build(toolchain, top, verilog, Effort::Build)?)
    }

    /// An instance of a model that has been built.
    ///
    /// # Errors
    ///
    /// A model without a port `clk`.
    pub fn of(model: &Model) -> Result<Self, verilator_sys::Error> {
        // Registers and memories start random: nothing may depend on what they held before reset.
        Self::started(model.instantiate_random(1)?)
    }

    /// Builds `verilog` and resets it, with registers that start as zero.
    ///
    /// # Errors
    ///
    /// As [`Bench::new`].
    pub fn zeroed(toolchain: &Toolchain, top: &str, verilog: &str) -> Result<Self, verilator_sys::Error> {
        Self::started(build(toolchain, top, verilog, Effort::Build)?.instantiate()?)
    }

    fn started(mut instance: Instance) -> Result<Self, verilator_sys::Error> {
        let model = instance.model().clone();
        for named in model.ports() {
            if named.port.direction() == Direction::Input {
                instance.set(named.port, 0);
            }
        }
        for (name, value) in [("fault", FAULT.get()), ("preload", PRELOAD.get())] {
            if let Ok(port) = instance.port(name) {
                instance.set(port, value);
            }
        }
        let (clk, rst) = (instance.port("clk")?, instance.port("rst").ok());
        let wave = wave();
        if let Some(path) = &wave {
            instance.trace_open(path)?;
        }
        let mut bench = Bench { instance, clk, rst, cycles: 0, wave };
        bench.reset()?;
        Ok(bench)
    }

    /// Resets the module for two cycles.
    ///
    /// # Errors
    ///
    /// As [`Bench::tick`].
    pub fn reset(&mut self) -> Result<(), verilator_sys::Error> {
        if let Some(rst) = self.rst {
            self.instance.set(rst, 1);
            self.tick()?;
            self.tick()?;
            self.instance.set(rst, 0);
        }
        Ok(())
    }

    /// Lets the inputs reach the outputs that depend on them within the cycle.
    ///
    /// # Errors
    ///
    /// As [`Bench::tick`].
    pub fn settle(&mut self) -> Result<(), verilator_sys::Error> {
        self.instance.eval()
    }

    /// One clock cycle with the inputs as they are.
    ///
    /// # Errors
    ///
    /// The simulation has stopped.
    #[inline]
    pub fn tick(&mut self) -> Result<(), verilator_sys::Error> {
        // Inputs change with the falling edge: a design that passes its clock on through processes must not see
        // both change at once.
        for clk in [0, 1] {
            self.instance.set(self.clk, clk);
            self.instance.eval()?;
            if self.wave.is_some() {
                self.dump((2 * self.cycles + clk) * HALF_CYCLE)?;
            }
        }
        self.cycles += 1;
        Ok(())
    }

    /// Adds to the waveform; a file that is long enough gives way to the next.
    #[cold]
    fn dump(&mut self, time: u64) -> Result<(), verilator_sys::Error> {
        let is_full = time > 0 && time.is_multiple_of(2 * WAVE_CYCLES * HALF_CYCLE);
        if let Some(path) = self.wave.as_ref().filter(|_| is_full) {
            self.instance.trace_close()?;
            let mut before = path.clone().into_os_string();
            before.push(".before");
            // Without the older part the waveform is shorter, and as right.
            let _ = std::fs::rename(path, before);
            self.instance.trace_open(path)?;
        }
        self.instance.trace_dump(time)
    }

    /// Clock cycles so far.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// The handle of a port.
    ///
    /// # Errors
    ///
    /// No such port.
    pub fn port(&self, name: &str) -> Result<Port, verilator_sys::Error> {
        self.instance.port(name)
    }

    /// An output, its low 64 bits if it is wider.
    #[inline]
    pub fn get(&self, port: Port) -> u64 {
        self.instance.get(port)
    }

    /// An output of up to 128 bits.
    pub fn get_wide(&self, port: Port) -> u128 {
        let mut words = [0; 4];
        self.instance.get_wide(port, &mut words);
        words.iter().rev().fold(0, |value, word| value << 32 | u128::from(*word))
    }

    /// An output of up to 512 bits; what is beyond its width is zero.
    #[inline]
    pub fn get_beat(&self, port: Port) -> [u64; 8] {
        if port.width() <= 64 {
            return [self.instance.get(port), 0, 0, 0, 0, 0, 0, 0];
        }
        let mut words = [0; 16];
        self.instance.get_wide(port, &mut words);
        std::array::from_fn(|i| u64::from(words[2 * i]) | u64::from(words[2 * i + 1]) << 32)
    }

    /// An output of any width in words of 32 bits, the least significant first.
    pub fn get_words(&self, port: Port, words: &mut [u32]) {
        self.instance.get_wide(port, words);
    }

    /// Sets an input of any width to words of 32 bits, the least significant first.
    pub fn set_words(&mut self, port: Port, words: &[u32]) {
        self.instance.set_wide(port, words);
    }

    /// Sets an input of up to 64 bits.
    #[inline]
    pub fn set(&mut self, port: Port, value: u64) {
        self.instance.set(port, value);
    }

    /// Sets an input of up to 512 bits; words beyond its width are left out.
    pub fn set_beat(&mut self, port: Port, value: &[u64; 8]) {
        if port.width() <= 64 {
            return self.instance.set(port, value[0]);
        }
        let mut words = [0; 16];
        for (words, value) in words.chunks_exact_mut(2).zip(value) {
            words.copy_from_slice(&[*value as u32, (*value >> 32) as u32]);
        }
        self.instance.set_wide(port, &words[..port.words()]);
    }

    /// Sets an input of up to 128 bits.
    pub fn set_wide(&mut self, port: Port, value: u128) {
        let words = [value as u32, (value >> 32) as u32, (value >> 64) as u32, (value >> 96) as u32];
        self.instance.set_wide(port, &words);
    }
}
