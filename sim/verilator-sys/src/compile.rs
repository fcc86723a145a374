//! From Verilog text to a shared library in the cache.
//!
//! The cache holds one library for each hash of everything that decides its contents, and what all models of one
//! toolchain share: the objects of Verilator's runtime, and its header compiled. Files appear in it under their final
//! name only when complete, so that several processes may use it at once; a lock keeps them from building the same
//! model twice.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use rustix::fs::{FlockOperation, flock};
use xxhash_rust::xxh3::xxh3_128;

use crate::error::Error;
use crate::port::{Declaration, Direction, parse_header};
use crate::toolchain::Toolchain;

/// Verilog text and what to simulate of it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Name of the top module.
    pub top: &'a str,
    /// Verilog or SystemVerilog text that contains the top module and all modules below it.
    pub verilog: &'a str,
}

/// Waveform formats.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Trace {
    /// No waveform: the fastest model.
    #[default]
    None,
    /// Value change dump, IEEE Std 1364-2005, clause 18.
    Vcd,
}

/// What is to take little time.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Effort {
    /// The simulation: the compiler optimises all it can.
    #[default]
    Run,
    /// The build: for models that run for seconds only, such as those of planted faults.
    Build,
}

/// How a model is built.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Options {
    /// The waveform format that instances can write.
    pub trace: Trace,
    /// Whether the build or the simulation is to be quick.
    pub effort: Effort,
}

const SHIM: &str = include_str!("shim.cpp");

/// How models are made: whoever changes these files gets models made anew. This is also what makes it sound to load
/// a library from the cache: one with other exported functions has another key.
const RECIPE: [&str; 3] = [SHIM, include_str!("compile.rs"), include_str!("port.rs")];

/// Class prefix of the generated C++, the same for all models: each is its own library.
const PREFIX: &str = "Vmodel";

/// Arguments for Verilator. Warnings do not stop a build, `lint` reports them. Initial and unknown values are
/// chosen when an instance is made. Times in waveforms are picoseconds.
const TRANSLATE: [&str; 13] = [
    "--cc",
    "--prefix",
    PREFIX,
    "-O3",
    "-Wno-fatal",
    "--no-timing",
    "--x-assign",
    "unique",
    "--x-initial",
    "unique",
    "--timescale-override",
    "1ps/1ps",
    "--top-module",
];

/// Arguments for all calls of the C++ compiler. Hidden symbols keep several loaded models apart.
const COMPILE: [&str; 8] = [
    "-std=c++17",
    "-fPIC",
    "-fvisibility=hidden",
    "-w",
    "-DVM_COVERAGE=0",
    "-DVL_USER_FINISH",
    "-DVL_USER_STOP",
    "-DVL_USER_FATAL",
];

/// Verilator 5 takes two mutexes in every evaluation to find that it has no garbage to delete, which costs more than
/// a small design. One instance is only ever evaluated by one thread at a time, so it may look without a lock.
const SLOW_DELETER: &str =
    "void VlDeleter::deleteAll() VL_EXCLUDES(m_mutex) VL_EXCLUDES(m_deleteMutex) VL_MT_SAFE {\n";
const FAST_DELETER: &str = "    if (m_newGarbage.empty()) return;\n";

/// The path of the library for `source`, built if the cache does not have it.
pub(crate) fn build(toolchain: &Toolchain, source: &Source, options: Options) -> Result<PathBuf, Error> {
    check_top(source.top)?;
    let library = toolchain.cache.join(format!(
        "{}-{:032x}.{}",
        source.top,
        key(toolchain, source, options),
        std::env::consts::DLL_EXTENSION
    ));
    if library.is_file() {
        return Ok(library);
    }
    fs::create_dir_all(&toolchain.cache).map_err(Error::io("cannot create", &toolchain.cache))?;
    let lock_path = library.with_extension("lock");
    let lock = File::create(&lock_path).map_err(Error::io("cannot create", &lock_path))?;
    flock(&lock, FlockOperation::LockExclusive)
        .map_err(|e| Error::io("cannot lock", &lock_path)(e.into()))?;
    if !library.is_file() {
        Build { toolchain, source, options }.run(&library)?;
    }
    Ok(library)
}

/// Verilog identifiers only: the name is part of file names and of command lines.
pub(crate) fn check_top(top: &str) -> Result<(), Error> {
    let first = top.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    if first && top.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$') {
        Ok(())
    } else {
        Err(Error::TopName(top.to_string()))
    }
}

/// The runtime's header as it is included by what is compiled at this level; compiled, it is good for no other.
fn header_name(level: &str) -> String {
    format!("verilated{level}.hpp")
}

/// Hash of everything that decides the contents of the library.
fn key(toolchain: &Toolchain, source: &Source, options: Options) -> u128 {
    // Lengths keep adjacent texts apart.
    let texts = [source.top, source.verilog];
    let mut all = tools_key(toolchain, options.trace).to_le_bytes().to_vec();
    all.extend(format!("{:?}", options.effort).into_bytes());
    for text in texts {
        all.extend((text.len() as u64).to_le_bytes());
        all.extend(text.as_bytes());
    }
    xxh3_128(&all)
}

/// Hash of everything that decides the contents of the runtime's objects and header.
fn tools_key(toolchain: &Toolchain, trace: Trace) -> u128 {
    let text = format!(
        "{:?}",
        (
            &toolchain.root,
            &toolchain.verilator_version,
            &toolchain.compiler,
            &toolchain.compiler_version,
            RECIPE,
            trace
        )
    );
    xxh3_128(text.as_bytes())
}

struct Build<'a> {
    toolchain: &'a Toolchain,
    source: &'a Source<'a>,
    options: Options,
}

impl Build<'_> {
    fn run(&self, library: &Path) -> Result<(), Error> {
        let cache = &self.toolchain.cache;
        let folder = tempfile::Builder::new()
            .prefix(".build-")
            .tempdir_in(cache)
            .map_err(Error::io("cannot create a folder in", cache))?;
        let folder = folder.path();
        self.translate(folder)?;

        let header = read(&folder.join(format!("{PREFIX}.h")))?;
        let ports = parse_header(&header).map_err(|what| self.misunderstood(what))?;
        let classes = read(&folder.join(format!("{PREFIX}_classes.mk")))?;
        let runtime = self.runtime_names(&classes)?;
        let (fast, slow) = self.units(folder, &ports)?;

        let runtime_folder =
            cache.join(format!("runtime-{:032x}", tools_key(self.toolchain, self.options.trace)));
        fs::create_dir_all(&runtime_folder).map_err(Error::io("cannot create", &runtime_folder))?;
        let level = match self.options.effort {
            Effort::Run => "-O3",
            Effort::Build => "-O1",
        };
        let levels = [level, "-O0"];
        self.compile_headers(levels, folder, &runtime_folder)?;

        // All in one list, longest first: a cold build compiles the runtime beside the model.
        let mut jobs = Vec::new();
        let mut objects = Vec::new();
        let mut new_objects = Vec::new();
        for name in &runtime {
            let object = runtime_folder.join(format!("{name}.o"));
            if !object.is_file() {
                let text = self.runtime_source(folder, name)?;
                let built = folder.join(format!("{name}.o"));
                jobs.push(self.compile("-O3", &text, &built));
                new_objects.push((built, object.clone()));
            }
            objects.push(object);
        }
        for (level, unit) in levels.into_iter().zip([fast, slow]) {
            let object = unit.with_extension("o");
            let mut job = self.compile(level, &unit, &object);
            job.arg("-include").arg(runtime_folder.join(header_name(level)));
            jobs.push(job);
            objects.push(object);
        }
        self.run_all(jobs)?;
        for (built, object) in new_objects {
            fs::rename(&built, &object).map_err(Error::io("cannot write", &object))?;
        }

        let linked = folder.join("model");
        let mut link = self.toolchain.cxx();
        link.args(["-shared", "-pthread", "-o"]).arg(&linked).args(&objects);
        self.run_all(vec![link])?;
        fs::rename(&linked, library).map_err(Error::io("cannot write", library))
    }

    /// Compiles Verilator's header for these levels if `runtime_folder` does not have it: reading it takes the
    /// compiler about as long as a small model. A compiler that cannot use what it finds there reads the text beside it.
    fn compile_headers(&self, levels: [&str; 2], folder: &Path, runtime_folder: &Path) -> Result<(), Error> {
        let mut jobs = Vec::new();
        let mut moves = Vec::new();
        for level in levels {
            let name = header_name(level);
            let (text, binary) = (folder.join(&name), folder.join(format!("{name}.gch")));
            let shared = runtime_folder.join(format!("{name}.gch"));
            if !shared.is_file() {
                write(&text, "#include \"verilated.h\"\n")?;
                jobs.push(self.compile(level, &text, &binary));
                // The text first: what is compiled is found only beside it.
                moves.extend([(text, runtime_folder.join(&name)), (binary, shared)]);
            }
        }
        self.run_all(jobs)?;
        for (built, shared) in moves {
            fs::rename(&built, &shared).map_err(Error::io("cannot write", &shared))?;
        }
        Ok(())
    }

    /// Runs Verilator; its C++ files are in `folder` afterwards.
    fn translate(&self, folder: &Path) -> Result<(), Error> {
        let file = write_source(folder, self.source)?;
        let mut command = self.toolchain.verilator();
        command.current_dir(folder).args(TRANSLATE).arg(self.source.top).args(["--Mdir", "."]);
        if self.options.trace == Trace::Vcd {
            command.arg("--trace-vcd");
        }
        let output = command
            .arg(&file)
            .output()
            .map_err(Error::io("cannot run Verilator from", &self.toolchain.root))?;
        if output.status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&output.stderr).trim().to_string();
        Err(Error::Verilator { top: self.source.top.to_string(), message })
    }

    /// The files of Verilator's runtime that the model needs, from the generated list for make.
    fn runtime_names(&self, classes: &str) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        let mut inside = false;
        for line in classes.lines() {
            let word = line.trim().trim_end_matches('\\').trim_end();
            if line.starts_with("VM_GLOBAL_") {
                inside = true;
            } else if word.is_empty() || line.starts_with('#') {
                inside = false;
            } else if inside {
                names.push(word.to_string());
            }
        }
        if names.iter().any(|name| name == "verilated") {
            Ok(names)
        } else {
            Err(self.misunderstood(format!("no runtime files are listed in {PREFIX}_classes.mk")))
        }
    }

    /// The file to compile for a part of the runtime: a faster copy of the one that holds `VlDeleter`.
    fn runtime_source(&self, folder: &Path, name: &str) -> Result<PathBuf, Error> {
        let original = self.toolchain.root.join("include").join(format!("{name}.cpp"));
        let text = read(&original)?;
        if !text.contains(SLOW_DELETER) {
            return Ok(original);
        }
        let copy = folder.join(format!("{name}.cpp"));
        write(&copy, &text.replacen(SLOW_DELETER, &format!("{SLOW_DELETER}{FAST_DELETER}"), 1))?;
        Ok(copy)
    }

    /// Writes the two files that include all generated ones: what runs in every evaluation, and the rest.
    fn units(&self, folder: &Path, ports: &[Declaration]) -> Result<(PathBuf, PathBuf), Error> {
        let mut names: Vec<String> = folder
            .read_dir()
            .map_err(Error::io("cannot read", folder))?
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.starts_with(PREFIX) && name.ends_with(".cpp"))
            .collect();
        names.sort();
        let (slow, fast): (Vec<_>, Vec<_>) = names.iter().partition(|name| name.contains("__Slow"));
        let include = |text: &mut String, name: &str| {
            // Writing to a String does not fail.
            let _ = writeln!(text, "#include \"{name}\"");
        };

        let mut fast_text = String::new();
        fast.iter().for_each(|name| include(&mut fast_text, name));
        include(&mut fast_text, &format!("{PREFIX}.h"));
        include(&mut fast_text, &format!("{PREFIX}___024root.h"));
        if self.options.trace == Trace::Vcd {
            include(&mut fast_text, "verilated_vcd_c.h");
        }
        fast_text.push_str("#define PORTS");
        for Declaration { member, direction, width } in ports {
            let direction = match direction {
                Direction::Input => "in",
                Direction::Output => "out",
                Direction::InOut => "inout",
            };
            let _ = write!(fast_text, " \\\n    PORT({direction}, {width}, {member})");
        }
        fast_text.push_str("\n\n");
        fast_text.push_str(SHIM);

        let mut slow_text = String::new();
        slow.iter().for_each(|name| include(&mut slow_text, name));
        let (fast_path, slow_path) = (folder.join("fast.cc"), folder.join("slow.cc"));
        write(&fast_path, &fast_text)?;
        write(&slow_path, &slow_text)?;
        Ok((fast_path, slow_path))
    }

    fn compile(&self, level: &str, source: &Path, object: &Path) -> Command {
        let include = self.toolchain.root.join("include");
        let trace = u8::from(self.options.trace == Trace::Vcd);
        let mut command = self.toolchain.cxx();
        command
            .arg(level)
            .args(COMPILE)
            .arg(format!("-DVM_TRACE={trace}"))
            .arg(format!("-DVM_TRACE_VCD={trace}"))
            .arg("-I")
            .arg(&include)
            .arg("-I")
            .arg(include.join("vltstd"))
            .arg("-c")
            .arg(source)
            .arg("-o")
            .arg(object);
        command
    }

    /// Runs the commands, as many at a time as there are processors; fails if any fails.
    fn run_all(&self, commands: Vec<Command>) -> Result<(), Error> {
        let workers = thread::available_parallelism().map_or(2, usize::from).min(commands.len());
        let queue = Mutex::new(commands.into_iter());
        let next = || queue.lock().ok().and_then(|mut commands| commands.next());
        let work = || {
            while let Some(command) = next() {
                self.run_one(command)?;
            }
            Ok(())
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| {
                worker.join().unwrap_or_else(|_| Err(self.misunderstood("a build thread failed".to_string())))
            })
        })
    }

    fn run_one(&self, mut command: Command) -> Result<(), Error> {
        let output = command.output().map_err(Error::io("cannot run", Path::new(command.get_program())))?;
        if output.status.success() {
            return Ok(());
        }
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let command = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let message = String::from_utf8_lossy(&output.stderr).trim().to_string();
        Err(Error::Compiler { top: self.source.top.to_string(), command, message })
    }

    fn misunderstood(&self, what: String) -> Error {
        Error::Translation { top: self.source.top.to_string(), what }
    }
}

/// Writes the Verilog text to a file in `folder` named after the top module and returns the file's name.
pub(crate) fn write_source(folder: &Path, source: &Source) -> Result<String, Error> {
    let name = format!("{}.v", source.top);
    write(&folder.join(&name), source.verilog)?;
    Ok(name)
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(Error::io("cannot write", path))
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(Error::io("cannot read", path))
}
