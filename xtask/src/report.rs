//! `cargo xtask report`: what each configuration costs on FPGA and ASIC, measured.
//!
//! * FPGA area: yosys, the core flattened ([`synthesis`]). FPGA frequency: nextpnr on the core in a wrapper, ten seeds
//!   where the frequency is quoted, else three ([`placement`], [`netlist`]).
//! * ASIC area and speed: yosys and OpenSTA with any Liberty file, RAM as black boxes ([`asic`], [`liberty`]).
//! * `cargo xtask cost` prints the cells of every module; `--check` compares them with their
//!   budget ([`budget`]).
//!
//! `docs/report.md` and `docs/report.json` are written anew by each run. What a tool found is kept in the folder of
//! the tools under a hash of all it depends on, so that an interrupted run continues, and only what changed is
//! measured again. A figure therefore never comes from another design, tool or option than it says.

mod asic;
mod budget;
mod liberty;
mod netlist;
mod page;
pub(crate) mod placement;
mod subject;
mod synthesis;

use crate::{Failure, tools};
use placement::{DEVICES, Device, Run};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;
use std::time::Instant;
use subject::Subject;
use synthesis::{Cells, ECP5, Family, ICE40};
use xxhash_rust::xxh3::xxh3_128;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Compare every module with its budget in hdl/budget.toml instead: synthesis for iCE40 only
    #[arg(long)]
    check: bool,
    /// Subjects to measure: designs, 10g-registered, 1g-pair, 10g-shell, 10g-key, 10g-key-mixing and such; all by default
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    configuration: Vec<String>,
    /// Devices to place on, of those that a subject is meant for: hx8k, 25f-6, 25f-8, 85f-6; all by default
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    device: Vec<String>,
    /// Standard cell libraries besides osu018: Liberty, plain or with gzip
    #[arg(long, value_delimiter = ',', value_name = "FILES")]
    liberty: Vec<PathBuf>,
    /// Measure nothing: write what earlier runs found, and name what they did not come to
    #[arg(long)]
    known: bool,
    /// Liberty file of a memory macro, for the times of RAM leaves
    #[arg(long, value_name = "FILE")]
    ram: Option<PathBuf>,
}

/// What was found on one device.
struct Placed {
    device: &'static Device,
    /// Or why it was not placed.
    runs: Result<Vec<Run>, String>,
}

/// All that was found of one configuration.
struct Measured {
    name: String,
    description: String,
    clock_mhz: f64,
    cells: Vec<(&'static Family, Cells)>,
    modules: BTreeMap<String, [Cells; 2]>,
    placed: Vec<Placed>,
    asic: Vec<asic::Cost>,
    /// What is not known, with `--known`.
    missing: Vec<String>,
}

/// With `--known`, that no earlier run found this.
#[derive(Debug, thiserror::Error)]
#[error("not measured yet: {0}; `cargo xtask report` without --known does it")]
struct NotMeasured(String);

/// The result, unless it is not measured, which is noted.
fn known<T>(missing: &mut Vec<String>, result: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) => match error.downcast::<NotMeasured>() {
            Ok(what) => {
                missing.push(what.0);
                Ok(None)
            }
            Err(error) => Err(error),
        },
    }
}

/// Where tools run, and where what they found is kept.
struct Work {
    folder: PathBuf,
    /// Nothing new is to be found.
    known: bool,
}

impl Work {
    fn new() -> Result<Self, Failure> {
        let folder = tools::folder()?.join("report");
        fs::create_dir_all(&folder)?;
        Ok(Self { folder, known: false })
    }

    /// A file for what depends on `key` and on the tools.
    fn file(&self, key: &[&str], extension: &str) -> PathBuf {
        let mut text = tools::pinned().join("\n");
        for part in key {
            text += &format!("\n{} {part}", part.len());
        }
        self.folder.join(format!("{:032x}.{extension}", xxh3_128(text.as_bytes())))
    }

    /// What `find` returned for this key, now or earlier.
    fn remembered(
        &self,
        what: &str,
        key: &[&str],
        find: impl FnOnce() -> Result<String, Failure>,
    ) -> Result<String, Failure> {
        let file = self.file(key, "txt");
        if let Ok(found) = fs::read_to_string(&file) {
            return Ok(found);
        }
        if self.known {
            return Err(NotMeasured(what.to_string()).into());
        }
        eprintln!("==> {what}");
        let start = Instant::now();
        let found = find()?;
        eprintln!("    {:.0} s", start.elapsed().as_secs_f64());
        // Under its name only when it is whole.
        let mut unfinished = tempfile::NamedTempFile::new_in(&self.folder)?;
        unfinished.write_all(found.as_bytes())?;
        unfinished.persist(file)?;
        Ok(found)
    }

    /// Makes the next [`Work::remembered`] find it anew.
    fn forget(&self, key: &[&str]) -> Result<(), Failure> {
        match fs::remove_file(self.file(key, "txt")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// Measures, or checks the budget.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.check {
        return check();
    }
    for name in &arguments.device {
        if !DEVICES.iter().any(|device| device.option == name) {
            let names = DEVICES.map(|device| device.option).join(", ");
            return Err(format!("there is no device '{name}': choose from {names}").into());
        }
    }
    let mut subjects = subject::all()?;
    for name in &arguments.configuration {
        if !subjects.iter().any(|subject| subject.name == *name) {
            let names: Vec<&str> = subjects.iter().map(|subject| subject.name.as_str()).collect();
            return Err(
                format!("there is no configuration '{name}': choose from {}", names.join(", ")).into()
            );
        }
    }
    let wanted = |name: &String| arguments.configuration.is_empty() || arguments.configuration.contains(name);
    subjects.retain(|subject| wanted(&subject.name));

    let work = Work { known: arguments.known, ..Work::new()? };
    let ram = match &arguments.ram {
        Some(file) => Some(liberty::Macro::parse(&liberty::read(file)?)?),
        None => None,
    };
    let mut libraries = vec![liberty::read(&tools::osu018()?)?];
    for file in &arguments.liberty {
        libraries.push(liberty::read(file)?);
    }
    let mut measured = vec![];
    for subject in &subjects {
        measured.push(measure(&work, subject, arguments, &libraries, ram.as_ref())?);
    }
    let folder = tools::workspace()?.join("docs");
    fs::create_dir_all(&folder)?;
    let (text, figures) = (folder.join("report.md"), folder.join("report.json"));
    let mut used = tools::pinned().into_iter().map(String::from).collect::<Vec<_>>();
    used.push(format!("OpenSTA {}", crate::acceptance::run(tools::sta()?.arg("-version"))?.trim()));
    fs::write(&text, page::markdown(&measured, &command(arguments), &used))?;
    fs::write(&figures, page::json(&measured, &used)?)?;
    println!("{}\n{}", text.display(), figures.display());
    Ok(())
}

fn measure(
    work: &Work,
    subject: &Subject,
    arguments: &Arguments,
    libraries: &[String],
    ram: Option<&liberty::Macro>,
) -> Result<Measured, Failure> {
    let (mut asic, mut missing) = (vec![], vec![]);
    for library in libraries.iter().filter(|_| subject.asic) {
        asic.extend(known(&mut missing, asic::measure(work, subject, library, ram))?);
    }
    let (mut cells, mut placed) = (vec![], vec![]);
    for family in subject.families.iter().copied() {
        let Some((total, netlist)) = known(&mut missing, synthesis::whole(work, subject, family))? else {
            continue;
        };
        cells.push((family, total));
        let wanted = |device: &&Device| {
            device.family.name == family.name
                && subject.devices.contains(&device.option)
                && (arguments.device.is_empty() || arguments.device.iter().any(|name| name == device.option))
        };
        for device in DEVICES.iter().filter(wanted) {
            let runs = match device.refuses(total) {
                Some(reason) => Err(reason),
                None => Ok(placement::place(work, subject, device, &netlist, &mut missing)?),
            };
            if let Ok(runs) = &runs
                && !runs.is_empty()
            {
                let [low, median, high] = placement::spread(runs.iter().map(|run| run.mhz));
                let (name, seeds) = (&subject.name, runs.len());
                println!(
                    "{name}, {}: {low:.1} MHz at worst, median {median:.1}, best {high:.1}, {seeds} seeds",
                    device.name
                );
            }
            placed.push(Placed { device, runs });
        }
    }
    let modules = if subject.by_module { known(&mut missing, modules(work, subject))? } else { None };
    Ok(Measured {
        name: subject.name.clone(),
        description: subject.description.clone(),
        clock_mhz: subject.clock_mhz,
        cells,
        modules: modules.unwrap_or_default(),
        placed,
        asic,
        missing,
    })
}

/// Cells of each module in both families.
fn modules(work: &Work, subject: &Subject) -> Result<BTreeMap<String, [Cells; 2]>, Failure> {
    let mut ecp5 = synthesis::by_module(work, subject, &ECP5)?;
    let ice40 = synthesis::by_module(work, subject, &ICE40)?;
    Ok(ice40
        .into_iter()
        .map(|(name, cells)| {
            let other = ecp5.remove(&name).unwrap_or_default();
            (name, [cells, other])
        })
        .collect())
}

/// Prints the tables of modules: the core with as many rows as given, and what stands beside it.
pub(crate) fn cost(rows: usize) -> Result<(), Failure> {
    let work = Work::new()?;
    println!("cells before placement, hierarchy kept, flip-flops in the module that holds them");
    println!("{:<36} {:>24} {:>24}", "", ICE40.name, ECP5.name);
    let titles = format!(" {:>8} {:>8} {:>6}", "LUT4", "flops", "RAM").repeat(2);
    println!("{:<36}{titles}", "module");
    for subject in subject::cost(rows)? {
        println!("{}", subject.description);
        let modules = modules(&work, &subject)?;
        let mut sum = [Cells::default(); 2];
        for cells in modules.values() {
            sum.iter_mut().zip(cells).for_each(|(sum, cells)| *sum += *cells);
        }
        for (module, cells) in modules.iter().chain([(&"sum".to_string(), &sum)]) {
            let columns = cells.map(|Cells { luts, flops, rams }| format!(" {luts:>8} {flops:>8} {rams:>6}"));
            println!("{module:<36}{}", columns.concat());
        }
    }
    println!("An ECP5 carry cell (CCU2C) counts as two LUT4.");
    Ok(())
}

/// Compares every module with its budget.
pub(crate) fn check() -> Result<(), Failure> {
    eprintln!("==> budget of every module");
    tools::install(tools::Selection::Synthesis)?;
    let path = tools::workspace()?.join(budget::FILE);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let budget = budget::Budget::read(&text)?;
    let (work, subjects) = (Work::new()?, subject::all()?);
    let subjects: Vec<&Subject> = subjects.iter().filter(|subject| subject.by_module).collect();
    let names: Vec<&str> = subjects.iter().map(|subject| subject.name.as_str()).collect();
    let mut wrong = budget.check_names(&names);
    let mut checked = 0;
    // Yosys keeps one core busy.
    let found: Vec<Result<_, String>> = thread::scope(|scope| {
        let synthesis =
            |subject| synthesis::by_module(&work, subject, &ICE40).map_err(|error| error.to_string());
        let threads: Vec<_> =
            subjects.iter().map(|subject| scope.spawn(move || synthesis(subject))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    for (name, found) in names.iter().zip(found) {
        let found = found?;
        checked += found.len();
        wrong.extend(budget.check(name, &found));
    }
    if wrong.is_empty() {
        eprintln!("    {checked} modules within their budgets");
        Ok(())
    } else {
        Err(wrong.join("\n").into())
    }
}

/// The command that reproduces the report, with the names of files alone.
fn command(arguments: &Arguments) -> String {
    let mut command = String::from("cargo xtask report");
    let mut add = |option: &str, values: Vec<String>| {
        let values = values.join(",");
        if !values.is_empty() {
            command += &format!(" --{option} {values}");
        }
    };
    let name = |file: &PathBuf| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    add("configuration", arguments.configuration.clone());
    add("device", arguments.device.clone());
    add("liberty", arguments.liberty.iter().map(name).collect());
    add("ram", arguments.ram.iter().map(name).collect());
    if arguments.known {
        command += " --known";
    }
    command
}
