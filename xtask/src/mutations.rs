//! Mutations of the core's netlist, chosen by yosys and not by hand: a measure of the checks that nobody who wrote them picked.
//!
//! ```text
//! emitted Verilog -> yosys: one flat netlist -> 100 mutations, each behind a value of the input `fault` -> Verilator
//!                                                    not noticed by the core's check -> yosys: equivalent?
//! ```
//!
//! A mutation is an input or output bit of a cell that is inverted, stuck, or inverted or masked by another bit of it. Left out
//! are the hash's matrix, which is half of all gates and proven exhaustively (`cargo xtask formal --only hash`); the
//! forwarding between updates of one cell at most four cycles apart, which also is proven (`--only lda`), and which the core of 64 bits
//! never needs, because a frame with an IP header has five beats; what compares delimiters that come in cycles behind each other, for the
//! same reason (`--only interval`); the count of the least interval, of which a simulation reaches the low bits alone (likewise); the parts of a key's tags and of a mixing, which this check leaves unused and others feed
//! (`checks::forgery`, `checks::point`); what reaches registers alone and no control frame, which the checks of whole designs compare (`checks::shell`); clock inputs, half a cycle of
//! which no simulation without delays sees; bits that nobody reads; and the multiplexers by which the check fills counters.
//!
//! A mutation that the check does not notice may change nothing: a bit that is always zero stuck at zero. Yosys shows that
//! from the same state of all flip-flops and memories the two netlists go on to the same one, and have the same outputs; what it cannot
//! show counts as missed, also if no such state is ever reached. At least [`CAUGHT`] per cent of the others must be noticed.
//!
//! # Test plan
//!
//! The netlist without a mutation passes the check; each mutation is noticed, proven or counted. Unit tests: names from
//! afar become wires of their module, and a line of yosys's list is taken apart.

use crate::acceptance::run;
use crate::{Failure, tools};
use deltaline_cosim::checks::core::{check_preloadable, preloadable};
use deltaline_cosim::error::CheckError;
use deltaline_cosim::faults::{Outcome, outcome};
use deltaline_cosim::hardware::TOP;
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_hdl::emit::reader;
use deltaline_model::configuration::Configuration;
use std::fs;
use tempfile::TempDir;
use verilator_sys::Toolchain;

/// Of the mutations that change something, the least share that must be noticed, in per cent. Of few, one may be missed: two of
/// six would be by chance in one draw of eighty, if the share were just this.
const CAUGHT: usize = 97;
/// Frames of random traffic in each run of the check.
const FRAMES: u64 = 3000;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Instead of the faults that were chosen by hand, so many of the core's netlist, chosen by yosys; 100 is usual
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(1..))]
    netlist: Option<u8>,
    /// Which ones yosys draws
    #[arg(long, default_value_t = 1, requires = "netlist")]
    seed: u32,
}

/// The file that yosys reads.
const SOURCE: &str = "source.v";

/// Reads Verilog, makes one flat netlist of it without bits that nobody reads, and lists mutations of it.
const PREPARE: &str = "\
import sys
from pyosys import libyosys as yosys
design = yosys.Design()
TIED_OFF = ['keyed', 'due_ready', 'next_ready', 'due_signed_0', 'next_signed_0']
def command(text):
    yosys.run_pass(text, design)
verilog, top = sys.argv[1:3]
command('read_verilog ' + verilog)
command('hierarchy -check -top ' + top)
command('proc -noopt')
# What no frame of this check uses, and others check: a key's tags; a mixing, whose part gives zero where there is none.
for module in list(design.modules_.values()):
    for cell in list(module.cells_.values()):
        kind = cell.type.str()
        for port in TIED_OFF if kind.endswith('_succession') else []:
            name = yosys.IdString('\\\\' + port)
            cell.setPort(name, yosys.SigSpec(yosys.State.S0, cell.getPort(name).size()))
        if kind.endswith('_mixings'):
            for port in ['pending', 'mixing', 'ended_id']:
                driven = cell.getPort(yosys.IdString('\\\\' + port))
                module.connect(driven, yosys.SigSpec(yosys.State.S0, driven.size()))
            module.remove(cell)
command('flatten')
for wire in [wire.str().lstrip('\\\\') for wire in design.top_module().wires_]:
    # What the emitted text takes from the top module by name.
    if wire.endswith('.preload'):
        command('connect -set ' + wire + ' preload')
    # No frames follow each other so closely, and no delimiters.
    if wire[:-1].endswith('.forward_') or wire.endswith(('.due_of_0_q', '.next_of_0_q')):
        command('connect -set ' + wire + \" 1'0\")
command('opt -full -keepdc')
command('memory_collect')
command('splitcells')
command('opt_clean -purge')
command('opt -full -keepdc -purge')
sent = top + '/o:m_axis_* ' + top + '/o:running %u %ci*'
left_out = top + '/c:*matrix* ' + top + '/c:*.?length.* ' + top + '/w:*.length.left.q %ci1 %u %u %d ' + top + '/w:preload %co4 %d'
command('select -set mutable ' + sent + ' ' + left_out + ' ' + top + '/c:* %i')
";

/// Arguments: Verilog, top, number, seed, file for the list, file for the netlist.
const MUTATE: &str = "\
number, seed, listed, netlist = sys.argv[3:]
command('mutate -list ' + str(int(number) + 50) + ' -seed ' + seed + ' -o ' + listed + ' @mutable')
drawn = [line.strip() for line in open(listed) if ' -port CLK ' not in line][:int(number)]
drawn = [line.replace('mutate ', 'mutate -ctrl fault 8 %d ' % fault) for fault, line in enumerate(drawn, 1)]
for line in drawn:
    command(line)
open(listed, 'w').write('\\n'.join(drawn))
command('opt_clean')
command('write_verilog -noattr ' + netlist)
";

/// Arguments: Verilog, top, and one line of the list. Fails if the mutation may change what any flip-flop, memory or output
/// gets, whatever those and the inputs hold: they are cut, and what is left of both netlists is compared.
const COMPARE: &str = "\
mutation = sys.argv[3].replace('-module ' + top, '-module mutated')
command('delete -input w:preload w:fault')
command(\"connect -set preload 8'h00\")
command('setundef -zero')
command('copy ' + top + ' mutated')
command(mutation)
# A flip-flop is cut by the name of what it drives. A mutation of its output makes that another wire, so each drives one of its own name
# in both, and what it drove comes of that by a gate that changes nothing.
for name in [top, 'mutated']:
    module = design.module(yosys.IdString('\\\\' + name))
    for cell in list(module.cells_.values()):
        if cell.type.str() in ['$dff', '$dffe', '$sdff', '$sdffe', '$sdffce']:
            output, own = yosys.IdString('\\\\Q'), cell.name.str().replace('\\\\', '|')
            driven = cell.getPort(output)
            state = yosys.SigSpec(module.addWire(yosys.IdString('\\\\state_' + own), driven.size()))
            cell.setPort(output, state)
            module.addOr(yosys.IdString('\\\\drives_' + own), state, state, driven)
# A flip-flop that drives a part of a wire is not cut.
command('splitnets')
command('expose -evert t:$mem_v2')
command('dffunmap')
command('expose -evert-dff t:$dff')
command('opt_clean -purge')
command('miter -equiv -flatten ' + top + ' mutated both')
command('hierarchy -top both')
# Merges what both have in common.
command('opt -full')
command('sat -verify -prove trigger 0')
";

/// The core's netlist with its mutations.
struct Mutated {
    /// Where yosys runs: a folder of its own, so that several runs do not meet.
    folder: TempDir,
    netlist: String,
    /// Commands of yosys, one each.
    list: Vec<String>,
}

impl Mutated {
    fn new(verilog: &str, number: usize, seed: u32) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let file = |name: &str| folder.path().join(name);
        fs::write(file(SOURCE), without_far_names(verilog))?;
        // Names in the list hold that of the source: without folders, so that everyone draws the same.
        let mut yosys = tools::yosys_python()?;
        yosys.current_dir(folder.path()).arg("-c").arg(PREPARE.to_string() + MUTATE).args([SOURCE, TOP]);
        run(yosys.args([number.to_string(), seed.to_string()]).args(["list", "netlist.v"]))?;
        let list: Vec<String> = fs::read_to_string(file("list"))?.lines().map(str::to_string).collect();
        if list.len() != number {
            return Err(format!("yosys found {} mutations, not {number}", list.len()).into());
        }
        let netlist = fs::read_to_string(file("netlist.v"))?;
        Ok(Self { folder, netlist, list })
    }

    /// Whether yosys proves that a mutation changes nothing, without the value that selects it.
    fn is_equivalent(&self, mutation: &str) -> Result<bool, Failure> {
        let mutation = format!("mutate {}", without_control(mutation));
        let mut yosys = tools::yosys_python()?;
        yosys.current_dir(self.folder.path()).arg("-c").arg(PREPARE.to_string() + COMPARE);
        let output = yosys.args([SOURCE, TOP, &mutation]).output()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        if output.status.success() {
            return Ok(true);
        }
        // Any other failure says nothing about the mutation.
        let complaint = String::from_utf8_lossy(&output.stderr);
        // The second one: a memory's output is another signal, by whose name it is not found.
        let answers = ["Called with -verify and proof did fail!", "No matching port in gate module"];
        let is_answer = answers.iter().any(|answer| printed.contains(answer) || complaint.contains(answer));
        if is_answer { Ok(false) } else { Err(format!("yosys, {mutation}:\n{complaint}").into()) }
    }
}

/// The emitted text with a wire `preload` in every module that takes the top module's, which yosys cannot read; it is
/// connected when the netlist is flat.
fn without_far_names(verilog: &str) -> String {
    let far = format!("{TOP}.preload");
    let mut text = verilog.to_string();
    for module in reader::modules(verilog).iter().filter(|module| module.text.contains(&far)) {
        let near = module.text.replace(&far, "preload");
        text =
            text.replace(module.text, &near.replacen(");\n", ");\n    (* keep *) wire [7:0] preload;\n", 1));
    }
    text
}

/// A line of the list without command and control input.
fn without_control(line: &str) -> String {
    line.split(' ').skip(5).collect::<Vec<_>>().join(" ")
}

/// What the mutation is, for the table: its mode and its place in the emitted design.
fn describe(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let option = |name: &str| words.iter().position(|word| *word == name).map_or("", |at| words[at + 1]);
    let wire = option("-wire");
    let place = if wire.is_empty() { option("-cell") } else { wire };
    let bit = if wire.is_empty() { option("-portbit") } else { option("-wirebit") };
    format!("{:<6} {place}[{bit}] ({})", option("-mode"), option("-port"))
}

/// Tries mutations of the core's netlist and prints what became of each.
pub(crate) fn netlist(configuration: &Configuration, number: usize, seed: u32) -> Result<(), Failure> {
    eprintln!("==> {number} mutations of the core's netlist");
    let toolchain = Toolchain::find()?;
    let verilog = preloadable(&emit(configuration, Module::Core, TOP)?)?;
    let mutated = Mutated::new(&verilog, number, seed)?;
    let check = || -> Result<u64, CheckError> {
        check_preloadable(&toolchain, configuration, &mutated.netlist, FRAMES, 7)
    };
    check()?;
    let (mut caught, mut equivalent, mut missed) = (0, 0, vec![]);
    for (fault, line) in (1..).zip(&mutated.list) {
        let verdict = match outcome(fault, check)? {
            Outcome::Caught(noticed) => {
                caught += 1;
                format!("caught      {}", noticed.chars().take(80).collect::<String>())
            }
            _ if mutated.is_equivalent(line)? => {
                equivalent += 1;
                "equivalent".to_string()
            }
            _ => {
                missed.push(describe(line));
                "MISSED".to_string()
            }
        };
        println!("{:<70} {verdict}", describe(line));
    }
    let effective = caught + missed.len();
    println!("{caught} of {effective} mutations caught; {equivalent} more change nothing, as yosys proves");
    if missed.len() <= (effective * (100 - CAUGHT) / 100).max(1) {
        Ok(())
    } else {
        Err(format!("too few of the mutations are caught; missed:\n{}", missed.join("\n")).into())
    }
}

/// The planted faults, or mutations.
pub(crate) fn run_all(arguments: &Arguments) -> Result<(), Failure> {
    let Some(number) = arguments.netlist else { return crate::check::mutate() };
    tools::install(tools::Selection::Simulation)?;
    tools::install(tools::Selection::Synthesis)?;
    netlist(&crate::check::small()?, number.into(), arguments.seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_names_become_wires() {
        let text = "\nmodule deltaline(preload,q);\n    input wire [7:0] preload;\nendmodule\n\
                    \nmodule deltaline_a(q);\n    output reg q;\n    q <= deltaline.preload == 8'd1;\nendmodule\n";
        let near = without_far_names(text);
        assert!(near.contains("module deltaline_a(q);\n    (* keep *) wire [7:0] preload;\n"), "{near}");
        assert!(near.contains("q <= preload == 8'd1;") && !near.contains("deltaline.preload"), "{near}");
    }

    #[test]
    fn a_mutation_is_taken_apart() {
        let line = "mutate -ctrl fault 8 3 -mode inv -module deltaline -cell $or$7 -port Y -portbit 4 -wire a.b -wirebit 2";
        assert_eq!(describe(line), "inv    a.b[2] (Y)");
        assert_eq!(
            without_control(line),
            "-mode inv -module deltaline -cell $or$7 -port Y -portbit 4 -wire a.b -wirebit 2"
        );
        assert_eq!(describe(line.split_once(" -wire").unwrap().0), "inv    $or$7[4] (Y)");
    }
}
