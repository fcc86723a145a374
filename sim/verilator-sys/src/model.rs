//! Loaded models and their instances: all `unsafe` code of the crate.
//!
//! The code relies on these facts, which `shim.cpp` and the build establish:
//!
//! 1. A library in the cache was made by this crate's build from its own `shim.cpp`; the text of the recipe is part
//!    of the library's key, so the exported functions have the types declared here. Whoever can write into the cache can run
//!    code in this process, as with every build folder.
//! 2. No exported function lets a C++ exception out (`noexcept`, every call of the model is in a `try` block).
//! 3. A library is never unloaded, so its functions and strings live as long as the process.
//! 4. All ports are members of one C++ object, the root, at the same distance in each instance of a model; a
//!    `static_assert` fixes the size of each, and [`Model::load`] checks that each lies inside the root and is aligned.
//! 5. An instance is not `Send` and not `Sync`: it is used by the thread that made it.

use std::ffi::{CStr, CString, c_char, c_int, c_ulong, c_void};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use libloading::Library;

use crate::compile::{self, Options, Source};
use crate::error::Error;
use crate::port::{Direction, NamedPort, Port, Storage, verilog_name};
use crate::toolchain::Toolchain;

/// A compiled design, loaded into the process. Cheap to clone; may be shared by threads.
///
/// The library stays loaded until the process ends.
#[derive(Clone, Debug)]
pub struct Model {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    top: String,
    path: PathBuf,
    id: u32,
    ports: Vec<NamedPort>,
    functions: Functions,
}

/// The functions that `shim.cpp` exports.
#[derive(Debug)]
struct Functions {
    ports: unsafe extern "C" fn() -> *const c_char,
    new: unsafe extern "C" fn(random: c_int, seed: c_int) -> *mut c_void,
    delete: unsafe extern "C" fn(instance: *mut c_void),
    root: unsafe extern "C" fn(instance: *mut c_void) -> *mut u8,
    root_size: unsafe extern "C" fn() -> u64,
    offsets: unsafe extern "C" fn(instance: *mut c_void, offsets: *mut u64),
    eval: unsafe extern "C" fn(instance: *mut c_void) -> c_int,
    failure: unsafe extern "C" fn(instance: *mut c_void) -> *const c_char,
    trace: Option<TraceFunctions>,
}

#[derive(Debug)]
struct TraceFunctions {
    open: unsafe extern "C" fn(instance: *mut c_void, path: *const c_char) -> c_int,
    dump: unsafe extern "C" fn(instance: *mut c_void, time: u64) -> c_int,
    close: unsafe extern "C" fn(instance: *mut c_void) -> c_int,
}

impl Functions {
    /// Looks up all functions of a library made from `shim.cpp`.
    fn of(library: &Library) -> Result<Self, libloading::Error> {
        // SAFETY: fact 1 of the module: each function has the type that the field declares. Fact 3: the pointers
        // stay valid, because the caller never unloads the library.
        unsafe {
            let trace = match library.get(c"shim_trace_open") {
                Ok(open) => Some(TraceFunctions {
                    open: *open,
                    dump: *library.get(c"shim_trace_dump")?,
                    close: *library.get(c"shim_trace_close")?,
                }),
                Err(_) => None,
            };
            Ok(Self {
                ports: *library.get(c"shim_ports")?,
                new: *library.get(c"shim_new")?,
                delete: *library.get(c"shim_delete")?,
                root: *library.get(c"shim_root")?,
                root_size: *library.get(c"shim_root_size")?,
                offsets: *library.get(c"shim_offsets")?,
                eval: *library.get(c"shim_eval")?,
                failure: *library.get(c"shim_failure")?,
                trace,
            })
        }
    }
}

/// Whether the process has rights that its user does not have, by the program's set-user-ID bit or capabilities. Such a
/// one must not load what its user can write.
fn is_privileged() -> bool {
    /// As in <linux/auxvec.h>.
    const AT_SECURE: c_ulong = 23;
    unsafe extern "C" {
        fn getauxval(kind: c_ulong) -> c_ulong;
    }
    // SAFETY: the C library's, of this type on every system that has it; it takes any number and only reads.
    unsafe { getauxval(AT_SECURE) != 0 }
}

impl Model {
    /// Translates, compiles and loads `source`, or loads it from the cache if it was built before.
    ///
    /// A first build takes some seconds, most of them for Verilator's runtime, which later builds share.
    ///
    /// # Errors
    ///
    /// [`Error::TopName`], [`Error::Verilator`] with Verilator's own message for faulty Verilog, [`Error::Compiler`],
    /// [`Error::Translation`], [`Error::Load`], [`Error::Privileged`], and [`Error::Io`] for files and programs that
    /// cannot be used.
    pub fn build(toolchain: &Toolchain, source: &Source, options: Options) -> Result<Self, Error> {
        if is_privileged() {
            return Err(Error::Privileged);
        }
        let path = compile::build(toolchain, source, options)?;
        Self::load(source.top, path)
    }

    fn load(top: &str, path: PathBuf) -> Result<Self, Error> {
        let load_error = |message: String| Error::Load { path: path.clone(), message };
        // SAFETY: fact 1 of the module: the library's initialisers are those of Verilator's runtime.
        let library = unsafe { Library::new(&path) }.map_err(|error| load_error(error.to_string()))?;
        // Fact 3 of the module.
        let library = ManuallyDrop::new(library);
        let functions = Functions::of(&library).map_err(|error| load_error(error.to_string()))?;

        // SAFETY: takes no arguments and returns a string literal.
        let listed = unsafe { CStr::from_ptr((functions.ports)()) }.to_string_lossy();
        let declarations: Vec<&str> = listed.lines().collect();
        let mut offsets = vec![0_u64; declarations.len()];
        // SAFETY: `new` has no preconditions.
        let probe = unsafe { (functions.new)(0, 0) };
        if probe.is_null() {
            return Err(load_error("an instance cannot be made".to_string()));
        }
        // SAFETY: `probe` is an instance, deleted once and not used after it; `offsets` has room for one number for
        // each port, the number of lines that the library lists.
        let (root, size) = unsafe {
            (functions.offsets)(probe, offsets.as_mut_ptr());
            let root = (functions.root)(probe) as usize as u64;
            (functions.delete)(probe);
            (root, (functions.root_size)())
        };

        static NEXT_ID: AtomicU32 = AtomicU32::new(1);
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let mut ports = Vec::with_capacity(declarations.len());
        for (declaration, offset) in declarations.into_iter().zip(offsets) {
            let port = parse_declaration(declaration, offset, id)
                .filter(|(_, port)| is_inside(*port, root, size))
                .ok_or_else(|| load_error(format!("unexpected port `{declaration}` at {offset}")))?;
            ports.push(NamedPort { name: verilog_name(port.0), port: port.1 });
        }
        Ok(Self { inner: Arc::new(Inner { top: top.to_string(), path, id, ports, functions }) })
    }

    /// Name of the top module.
    #[must_use]
    pub fn top(&self) -> &str {
        &self.inner.top
    }

    /// The file of the compiled model in the cache.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// All ports of the top module.
    #[must_use]
    pub fn ports(&self) -> &[NamedPort] {
        &self.inner.ports
    }

    /// The handle of the port with this Verilog name; `$` may be part of it.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownPort`] lists the ports that exist.
    pub fn port(&self, name: &str) -> Result<Port, Error> {
        let found = self.inner.ports.iter().find(|port| port.name == name);
        found.map(|port| port.port).ok_or_else(|| Error::UnknownPort {
            top: self.inner.top.clone(),
            name: name.to_string(),
            known: self.inner.ports.iter().map(|port| port.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }

    /// A new instance; registers, memories and ports without initial value start at 0.
    ///
    /// # Errors
    ///
    /// [`Error::Simulation`] if it cannot be made, for lack of memory.
    pub fn instantiate(&self) -> Result<Instance, Error> {
        self.new_instance(0, 0)
    }

    /// A new instance whose registers and memories without initial value start at random, to find what a reset does
    /// not reach. The same `seed` gives the same values; only its low 30 bits count.
    ///
    /// # Errors
    ///
    /// As [`Model::instantiate`].
    pub fn instantiate_random(&self, seed: u32) -> Result<Instance, Error> {
        // Verilator takes the seed 0 as a request for a different one in each run.
        let seed = (seed & 0x3fff_ffff) as c_int + 1;
        self.new_instance(1, seed)
    }

    fn new_instance(&self, random: c_int, seed: c_int) -> Result<Instance, Error> {
        let functions = &self.inner.functions;
        // SAFETY: `new` has no preconditions; Verilator's runtime guards what instances share, so that threads may
        // make instances at the same time.
        let handle = unsafe { (functions.new)(random, seed) };
        if handle.is_null() {
            let message = "an instance cannot be made".to_string();
            return Err(Error::Simulation { top: self.inner.top.clone(), message });
        }
        // SAFETY: `handle` is an instance.
        let root = unsafe { (functions.root)(handle) };
        Ok(Instance {
            handle,
            root,
            id: self.inner.id,
            eval: functions.eval,
            traced: None,
            model: self.clone(),
            _not_send: PhantomData,
        })
    }
}

/// Reads a line of `shim_ports`, such as `in 40 s_axis_tdata`.
fn parse_declaration(line: &str, offset: u64, model: u32) -> Option<(&str, Port)> {
    let mut words = line.split(' ');
    let direction = match words.next()? {
        "in" => Direction::Input,
        "out" => Direction::Output,
        "inout" => Direction::InOut,
        _ => return None,
    };
    let width = words.next()?.parse().ok().filter(|width| *width > 0)?;
    let offset = u32::try_from(offset).ok()?;
    Some((words.next()?, Port { offset, width, model, direction, storage: Storage::of(width) }))
}

/// Fact 4 of the module: the port lies inside a root object of `size` bytes at address `root`, and is aligned.
fn is_inside(port: Port, root: u64, size: u64) -> bool {
    let bytes = port.storage.bytes(port.width);
    let alignment = if port.storage == Storage::Words { 4 } else { bytes };
    let end = u64::from(port.offset) + u64::from(bytes);
    end <= size
        && (root + u64::from(port.offset)).is_multiple_of(u64::from(alignment))
        && root.is_multiple_of(8)
}

/// One running copy of a [`Model`].
///
/// Stays with the thread that made it; several threads can each make their own.
#[derive(Debug)]
pub struct Instance {
    handle: *mut c_void,
    /// The C++ object that holds all ports.
    root: *mut u8,
    id: u32,
    eval: unsafe extern "C" fn(instance: *mut c_void) -> c_int,
    /// The open waveform file and the time last written to it.
    traced: Option<(PathBuf, Option<u64>)>,
    model: Model,
    /// Fact 5 of the module, said explicitly.
    _not_send: PhantomData<*mut ()>,
}

impl Instance {
    /// The model of which this is an instance.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// All ports of the top module.
    #[must_use]
    pub fn ports(&self) -> &[NamedPort] {
        self.model.ports()
    }

    /// As [`Model::port`].
    ///
    /// # Errors
    ///
    /// As [`Model::port`].
    pub fn port(&self, name: &str) -> Result<Port, Error> {
        self.model.port(name)
    }

    /// Brings outputs and registers up to date with the inputs. A clock edge is a change of the clock's input port
    /// since the last call.
    ///
    /// # Errors
    ///
    /// [`Error::Simulation`] if the design does not settle or executes `$finish`, `$stop`, `$error` or `$fatal`; the
    /// instance then stays as it is, and every later call returns the same error.
    #[inline]
    pub fn eval(&mut self) -> Result<(), Error> {
        // SAFETY: `handle` is an instance of the model that `eval` belongs to; `&mut self` makes this the only use.
        if unsafe { (self.eval)(self.handle) } == 0 { Ok(()) } else { Err(self.stopped()) }
    }

    /// The value of a port, its low 64 bits if it is wider.
    ///
    /// # Panics
    ///
    /// If `port` is of another model.
    #[inline]
    #[must_use]
    pub fn get(&self, port: Port) -> u64 {
        let at = self.address(port);
        // SAFETY: fact 4 of the module: the port is an initialised, aligned integer of this size inside the root
        // object, which lives as long as `self`; the model changes it only in calls that take `&mut self`.
        unsafe {
            match port.storage {
                Storage::U8 => u64::from(at.read()),
                Storage::U16 => u64::from(at.cast::<u16>().read()),
                Storage::U32 => u64::from(at.cast::<u32>().read()),
                Storage::U64 => at.cast::<u64>().read(),
                // More than 64 bits are at least 3 words.
                Storage::Words => {
                    let words = at.cast::<u32>();
                    u64::from(words.read()) | u64::from(words.add(1).read()) << 32
                }
            }
        }
    }

    /// Sets a port to `value` modulo 2^width; the upper bits of a port of more than 64 bits become 0.
    ///
    /// Takes effect with the next [`Instance::eval`]. A value written to an output is overwritten by the model.
    ///
    /// # Panics
    ///
    /// If `port` is of another model.
    #[inline]
    pub fn set(&mut self, port: Port, value: u64) {
        let value = if port.width < 64 { value & ((1 << port.width) - 1) } else { value };
        let at = self.address(port);
        // The casts keep all bits: the value is masked to the width, which the storage holds.
        // SAFETY: as in `get`; `&mut self` makes this the only access.
        unsafe {
            match port.storage {
                Storage::U8 => at.write(value as u8),
                Storage::U16 => at.cast::<u16>().write(value as u16),
                Storage::U32 => at.cast::<u32>().write(value as u32),
                Storage::U64 => at.cast::<u64>().write(value),
                Storage::Words => {
                    let words = at.cast::<u32>();
                    words.write(value as u32);
                    words.add(1).write((value >> 32) as u32);
                    for index in 2..port.words() {
                        words.add(index).write(0);
                    }
                }
            }
        }
    }

    /// Copies the value of a port of any width into `words` of 32 bits, the least significant first.
    ///
    /// Words beyond the port become 0; bits for which there is no word are left out.
    ///
    /// # Panics
    ///
    /// If `port` is of another model.
    pub fn get_wide(&self, port: Port, words: &mut [u32]) {
        let low = self.get(port);
        let at = self.address(port).cast::<u32>();
        for (index, word) in words.iter_mut().enumerate() {
            *word = match index {
                0 => low as u32,
                1 => (low >> 32) as u32,
                // SAFETY: as in `get`; an index from 2 below `words()` exists only in a port stored as words.
                _ if index < port.words() => unsafe { at.add(index).read() },
                _ => 0,
            };
        }
    }

    /// Sets a port of any width to the number in `words` of 32 bits, the least significant first, modulo 2^width.
    ///
    /// Words that are missing count as 0.
    ///
    /// # Panics
    ///
    /// If `port` is of another model.
    pub fn set_wide(&mut self, port: Port, words: &[u32]) {
        let word = |index: usize| words.get(index).copied().unwrap_or(0);
        self.set(port, u64::from(word(0)) | u64::from(word(1)) << 32);
        let at = self.address(port).cast::<u32>();
        for index in 2..port.words() {
            let used = port.width - 32 * index as u32;
            let mask = if used < 32 { (1 << used) - 1 } else { u32::MAX };
            // SAFETY: as in `set`; an index from 2 below `words()` exists only in a port stored as words.
            unsafe { at.add(index).write(word(index) & mask) };
        }
    }

    /// Starts a waveform file; an open one is closed first.
    ///
    /// # Errors
    ///
    /// [`Error::Trace`] if the model was built without [`Trace`](crate::Trace) or the file cannot be opened,
    /// [`Error::Simulation`] if the model has stopped.
    pub fn trace_open(&mut self, path: &Path) -> Result<(), Error> {
        self.trace_close()?;
        let functions = self.trace_functions(path)?;
        let Ok(c_path) = CString::new(path.as_os_str().as_bytes()) else {
            return Err(self.trace_error(path, "the path contains a zero byte"));
        };
        // SAFETY: `handle` is an instance of the model that `open` belongs to, `c_path` a string that ends in zero.
        match unsafe { (functions.open)(self.handle, c_path.as_ptr()) } {
            0 => {
                self.traced = Some((path.to_path_buf(), None));
                Ok(())
            }
            1 => Err(self.stopped()),
            _ => Err(self.trace_error(path, "the file cannot be opened; check that its folder exists")),
        }
    }

    /// Writes the values of all signals at `time`, in picoseconds; does nothing if no file is open.
    ///
    /// # Errors
    ///
    /// [`Error::Trace`] if `time` is not after the time of the last call, [`Error::Simulation`] if the model has
    /// stopped.
    pub fn trace_dump(&mut self, time: u64) -> Result<(), Error> {
        let Some((path, last)) = &mut self.traced else { return Ok(()) };
        if last.is_some_and(|last| time <= last) {
            let path = path.clone();
            return Err(self.trace_error(&path, "the time must increase with every dump"));
        }
        *last = Some(time);
        match &self.model.inner.functions.trace {
            // SAFETY: `handle` is an instance of the model that `dump` belongs to.
            Some(functions) if unsafe { (functions.dump)(self.handle, time) } != 0 => Err(self.stopped()),
            _ => Ok(()),
        }
    }

    /// Completes the waveform file; does nothing if none is open. Dropping the instance does the same.
    ///
    /// # Errors
    ///
    /// [`Error::Simulation`] if the model has stopped.
    pub fn trace_close(&mut self) -> Result<(), Error> {
        if self.traced.take().is_none() {
            return Ok(());
        }
        match &self.model.inner.functions.trace {
            // SAFETY: `handle` is an instance of the model that `close` belongs to.
            Some(functions) if unsafe { (functions.close)(self.handle) } != 0 => Err(self.stopped()),
            _ => Ok(()),
        }
    }

    /// The place of a port. A handle of another model is a mistake of the caller, as an index out of bounds is.
    #[inline]
    fn address(&self, port: Port) -> *mut u8 {
        assert!(
            port.model == self.id,
            "a port of another model was used on an instance of `{}`",
            self.model.top()
        );
        // SAFETY: fact 4 of the module: the handle belongs to this model, so the distance lies inside the root.
        unsafe { self.root.add(port.offset as usize) }
    }

    fn trace_functions(&self, path: &Path) -> Result<&TraceFunctions, Error> {
        let functions = self.model.inner.functions.trace.as_ref();
        functions
            .ok_or_else(|| self.trace_error(path, "the model was built without a trace format, see Options"))
    }

    fn trace_error(&self, path: &Path, reason: &'static str) -> Error {
        Error::Trace { top: self.model.top().to_string(), path: path.to_path_buf(), reason }
    }

    #[cold]
    fn stopped(&self) -> Error {
        // SAFETY: `handle` is an instance; the string ends in zero and is copied before the instance changes.
        let message = unsafe { CStr::from_ptr((self.model.inner.functions.failure)(self.handle)) };
        let message = message.to_string_lossy().into_owned();
        Error::Simulation { top: self.model.top().to_string(), message }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: `handle` is an instance that nothing uses after this.
        unsafe { (self.model.inner.functions.delete)(self.handle) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::process::Command;

    const CHILD: &str = "DELTALINE_IS_PRIVILEGED";
    /// Nobody, who owns nothing.
    const OTHER: u32 = 65_534;

    /// Runs itself with the rights of another user, as a set-user-ID program. To root alone, who may make one, and where programs
    /// may have such rights.
    #[test]
    fn a_program_with_rights_of_its_own_loads_nothing() {
        let toolchain = Toolchain {
            root: PathBuf::from("/nonexistent"),
            verilator_version: String::new(),
            compiler: vec![],
            compiler_version: String::new(),
            cache: PathBuf::from("/nonexistent"),
        };
        let source = Source { top: "m", verilog: "module m; endmodule" };
        let built = Model::build(&toolchain, &source, Options::default()).err().unwrap();
        if std::env::var_os(CHILD).is_some() {
            assert!(matches!(built, Error::Privileged), "{built}");
            println!("refused");
            return;
        }
        assert!(!matches!(built, Error::Privileged), "{built}");

        let copy = std::env::temp_dir().join(format!("deltaline-privileged-{}", std::process::id()));
        fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        let is_made = chown(&copy, Some(OTHER), Some(OTHER)).is_ok();
        fs::set_permissions(&copy, Permissions::from_mode(0o4755)).unwrap();
        let name = "model::tests::a_program_with_rights_of_its_own_loads_nothing";
        let output = Command::new(&copy).args(["--exact", name, "--nocapture"]).env(CHILD, "1").output();
        fs::remove_file(&copy).unwrap();
        let output = output.unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if is_made && !is_nosuid() {
            assert!(output.status.success() && text.contains("refused"), "{text}");
        } else {
            println!("skipped: no set-user-ID program can be made or run here");
        }
    }

    /// Whether the file system of temporary files gives programs no rights, by proc(5).
    fn is_nosuid() -> bool {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        let folder = std::env::temp_dir();
        let of_folder = mounts
            .lines()
            .filter(|line| line.split(' ').nth(1).is_some_and(|place| folder.starts_with(place)));
        let options = of_folder.max_by_key(|line| line.split(' ').nth(1).map(str::len));
        options.and_then(|line| line.split(' ').nth(3)).is_some_and(|options| options.contains("nosuid"))
    }
}
