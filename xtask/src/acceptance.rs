//! Tools of others accept the emitted Verilog: Icarus simulates it to the same control frames, with no unknown
//! value on any output; yosys synthesises it without latches and finds the memories. Both also take the core with
//! memory macros in the place of its memories, and the default package's template.

use crate::{Failure, tools};
use deltaline_cosim::stream::{Beat, IDLE, beats};
use deltaline_design::{DEFAULT, Design};
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_hdl::emit::package::package;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::time::{AbsoluteTime, TimeBase, Timestamp};
use deltaline_model::wire::frame::Role;
use deltaline_traffic::Frames;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Frames of each interval, and intervals, of the run in Icarus.
const FRAMES: usize = 60;
const INTERVALS: usize = 3;
/// Cycles that the drain of 2 x 16 cells takes, with room to spare.
const DRAIN: usize = 1500;

/// Options of Icarus and yosys, without and with memory macros.
const MACROS: [&[&str]; 2] = [&[], &["-DDELTALINE_RAM_MACRO"]];

/// The point's identifier, and the absolute time at which all intervals end.
const POINT: u32 = 0x8123_4567;
const TIME: AbsoluteTime = AbsoluteTime { base: TimeBase::Tai, seconds: 0x8000_6955_b925 };

/// What the bench applies in one cycle: tdata, tkeep, tvalid, tlast, tuser, interval_end.
fn stimulus(beat: Option<Beat>, end: bool) -> String {
    let Beat { data: [data, ..], keep, last, timestamp, bad } = beat.unwrap_or(IDLE);
    let user = u128::from(timestamp) << 1 | u128::from(bad);
    let valid = u8::from(beat.is_some());
    format!("{data:064b}{keep:08b}{valid}{}{user:065b}{}\n", u8::from(last), u8::from(end))
}

/// All of them.
pub(crate) fn run_all() -> Result<(), Failure> {
    template()?;
    icarus()?;
    yosys()
}

/// A run in Icarus Verilog against the model.
fn icarus() -> Result<(), Failure> {
    eprintln!("==> Icarus Verilog against the model");
    let configuration = Configuration::new(Settings { rows: 16, ..Settings::default() })?;
    let mut point = MeasurementPoint::new(&configuration, Role::Receiver);
    point.set_id(POINT);
    point.set_time(Some(TIME));
    let (mut cycles, mut expected) = (String::new(), vec![]);
    let mut frames = Frames::new(11);
    for _ in 0..INTERVALS {
        for number in 0..FRAMES {
            let (frame, time) = (frames.next_frame(), Timestamp(number as u64 * 0x1234_5678_9abc));
            beats(8, &frame, time, false).for_each(|beat| cycles += &stimulus(Some(beat), false));
            point.observe(&frame, time);
        }
        cycles += &stimulus(None, true);
        (0..DRAIN).for_each(|_| cycles += &stimulus(None, false));
        point.end_interval(IntervalEnd::Request, |frame| expected.extend_from_slice(frame));
    }

    let folder = tools::folder()?.join("icarus-run");
    let macros = write_package(&folder)?.join("deltaline_ram_macro.v");
    let (design, bench, memory, program) = (
        folder.join("small.v"),
        folder.join("bench.v"),
        folder.join("stimulus.bin"),
        folder.join("bench.vvp"),
    );
    fs::write(&design, emit(&configuration, Module::Core, "deltaline")?)?;
    fs::write(&memory, &cycles)?;
    fs::write(&bench, bench_text(&memory.to_string_lossy(), cycles.lines().count()))?;
    for options in MACROS {
        // The model of the macro gives unknown values wherever a macro may give any.
        run(tools::iverilog()?
            .args(["-g2005", "-Wall", "-Wno-timescale", "-s", "bench", "-o"])
            .arg(&program)
            .args(options)
            .args([&bench, &design, &macros]))?;
        let printed = run(tools::vvp()?.arg("-n").arg(&program))?;

        let mut found = vec![];
        for line in printed.lines() {
            match line.split_once(' ') {
                Some(("beat", data)) => found.extend(u64::from_str_radix(data, 16)?.to_le_bytes()),
                _ if line.contains("unknown") => return Err(format!("Icarus {options:?}: {line}").into()),
                _ => {}
            }
        }
        if found != expected {
            let at = found.iter().zip(&expected).take_while(|(a, b)| a == b).count();
            let lengths = (found.len(), expected.len());
            let what = format!("Icarus {options:?} and the model differ at byte {at}; lengths {lengths:?}");
            return Err(what.into());
        }
        eprintln!("    {} control-frame bytes equal, no unknown value {options:?}", found.len());
    }
    Ok(())
}

/// Writes the default package's files into a folder.
fn write_package(folder: &Path) -> Result<&Path, Failure> {
    fs::create_dir_all(folder)?;
    for file in package(&Design::named(DEFAULT)?, "deltaline")? {
        fs::write(folder.join(file.name), file.text)?;
    }
    Ok(folder)
}

/// The default package's template elaborates, with and without memory macros.
fn template() -> Result<(), Failure> {
    eprintln!("==> Icarus Verilog and yosys elaborate the template");
    let folder = tools::folder()?.join("package");
    write_package(&folder)?;
    let files =
        ["deltaline_template.v", "deltaline.v", "deltaline_ram_macro.v"].map(|file| folder.join(file));
    let script = "\
import sys
from pyosys import libyosys as yosys
design = yosys.Design()
for command in (
    'read_verilog ' + ' '.join(sys.argv[1:]),
    'hierarchy -check -top deltaline_template',
    'proc',
    'check -assert',
    'select -assert-none t:$dlatch',
):
    yosys.run_pass(command, design)
";
    for options in MACROS {
        run(tools::iverilog()?
            .args(["-g2005", "-Wall", "-Wno-timescale", "-s", "deltaline_template", "-o"])
            .arg(folder.join("template.vvp"))
            .args(options)
            .args(&files))?;
        run(tools::yosys_python()?.arg("-c").arg(script).args(options).args(&files))?;
    }
    Ok(())
}

fn bench_text(memory: &str, cycles: usize) -> String {
    let mut text = String::new();
    let last = cycles - 1;
    let AbsoluteTime { base, seconds } = TIME;
    let base = base as u8;
    let _ = write!(
        text,
        "module bench;
    reg clk = 0, rst = 1;
    always #5 clk = ~clk;
    reg [139:0] stimulus [0:{last}];
    reg [139:0] now = 0;
    integer cycle;
    wire running, m_tvalid, m_tlast, m_tuser;
    wire [63:0] m_tdata;
    wire [7:0] m_tkeep;
    deltaline core(
        .clk(clk), .rst(rst), .s_axis_tdata(now[139:76]), .s_axis_tkeep(now[75:68]), .s_axis_tvalid(now[67]),
        .s_axis_tready(1'b1), .s_axis_tlast(now[66]), .s_axis_tuser(now[65:1]), .interval_end(now[0]),
        .interval_log2(6'd0), .ptp_ts(64'd0), .ptp_locked(1'b1), .receiver(1'b1), .running(running),
        .least_interval(32'd0), .point_id(32'h{POINT:x}), .absolute_time({{8'd{base}, 48'h{seconds:x}}}),
        .m_axis_tdata(m_tdata), .m_axis_tkeep(m_tkeep), .m_axis_tvalid(m_tvalid), .m_axis_tready(1'b1),
        .m_axis_tlast(m_tlast), .m_axis_tuser(m_tuser));
    always @(negedge clk) if (!rst) begin
        if (^{{running, m_tvalid, m_tlast, m_tuser, m_tdata, m_tkeep}} === 1'bx)
            $display(\"unknown value on an output at %0t\", $time);
        if (m_tvalid === 1'b1) $display(\"beat %h\", m_tdata);
    end
    initial begin
        $readmemb(\"{memory}\", stimulus);
        repeat (3) @(negedge clk);
        rst = 0;
        while (running !== 1'b1) @(negedge clk);
        for (cycle = 0; cycle <= {last}; cycle = cycle + 1) begin
            now = stimulus[cycle];
            @(negedge clk);
        end
        $finish;
    end
endmodule
"
    );
    text
}

/// Synthesis for iCE40, where memories and latches are easy to count.
fn yosys() -> Result<(), Failure> {
    eprintln!("==> yosys synthesises the core");
    let configuration = Configuration::new(Settings { rows: 256, ..Settings::default() })?;
    let design = tools::folder()?.join("yosys-run.v");
    fs::write(&design, emit(&configuration, Module::Core, "deltaline")?)?;
    // 2 halves x 2 copies x 36 bits of 512 words, in memories of 512 x 8: 5 each.
    let script = "\
import sys
from pyosys import libyosys as yosys
design = yosys.Design()
for command in (
    'read_verilog ' + sys.argv[1],
    'hierarchy -check -top deltaline',
    'synth_ice40 -top deltaline',
    'check -assert',
    'select -assert-count 20 t:SB_RAM40_4K',
    'select -assert-none t:$_DLATCH* t:$dlatch* t:SB_DFFN*',
    'stat',
):
    yosys.run_pass(command, design)
";
    let printed = run(tools::yosys_python()?.arg("-c").arg(script).arg(&design))?;
    let statistics = printed.rfind("Number of cells").or(printed.rfind(" cells")).unwrap_or(0);
    let lines = printed[statistics..].lines().filter(|line| line.contains("SB_"));
    lines.for_each(|line| eprintln!("    {}", line.trim()));
    Ok(())
}

/// Runs a command; what it printed, or an error with it.
pub(crate) fn run(command: &mut Command) -> Result<String, Failure> {
    let output = command.output().map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(printed);
    }
    let tail: Vec<&str> = printed.lines().rev().take(20).collect();
    let tail: Vec<&str> = tail.into_iter().rev().collect();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{:?} failed ({}):\n{}\n{complaint}", command.get_program(), output.status, tail.join("\n"))
        .into())
}
