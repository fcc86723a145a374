//! Programs that were unpacked from Debian packages, and what each needs in order to run where it is.

use super::debian::FRR_FOLDER;
use super::error::{Error, io_error};
use super::missing::is_root;
use super::staging::entries;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs and libraries that were unpacked from Debian packages.
pub(super) struct Unpacked {
    root: PathBuf,
    /// The folder `usr/lib/<architecture>`.
    libraries: PathBuf,
}

impl Unpacked {
    pub(super) fn at(root: &Path) -> Result<Self, Error> {
        let lib = root.join("usr/lib");
        if !lib.is_dir() {
            return Ok(Self { root: root.to_path_buf(), libraries: lib });
        }
        let is_architecture =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().contains("-linux-"));
        let libraries = entries(&lib)?.into_iter().find(is_architecture).unwrap_or(lib);
        Ok(Self { root: root.to_path_buf(), libraries })
    }

    /// The place of a library of the distribution.
    pub(super) fn library(&self, name: &str) -> PathBuf {
        self.libraries.join(name)
    }

    fn program(&self, name: &str) -> Command {
        self.in_folder("usr/bin", name)
    }

    fn in_folder(&self, folder: &str, name: &str) -> Command {
        let mut command = Command::new(self.root.join(folder).join(name));
        // FRR has a folder of its own.
        let mut folders = vec![self.libraries.clone(), self.library("frr"), self.root.join("usr/lib")];
        if let Some(architecture) = self.libraries.file_name() {
            folders.push(self.root.join("lib").join(architecture));
        }
        if let Some(present) = env::var_os("LD_LIBRARY_PATH") {
            folders.extend(env::split_paths(&present).filter(|folder| !folder.as_os_str().is_empty()));
        }
        // Fails only for a folder with a colon in its name, which the loader cannot use either.
        if let Ok(path) = env::join_paths(folders) {
            command.env("LD_LIBRARY_PATH", path);
        }
        command
    }

    pub(super) fn icarus(&self, program: &str, option: &str) -> Command {
        let mut command = self.program(program);
        let mut argument = OsString::from(option);
        argument.push(self.libraries.join("ivl"));
        command.arg(argument);
        command
    }

    pub(super) fn sta(&self) -> Command {
        let mut command = self.program("sta");
        command.env("TCL_LIBRARY", self.root.join("usr/share/tcltk/tcl8.6"));
        command
    }

    pub(super) fn frr(&self, daemon: &str) -> Command {
        self.in_folder(FRR_FOLDER, daemon)
    }

    pub(super) fn icebox_vlog(&self) -> Command {
        let mut command = Command::new("python3");
        command.arg(self.root.join("usr/share/fpga-icestorm/python/icebox_vlog"));
        command
    }

    pub(super) fn tshark(&self) -> Command {
        let tshark = self.program("tshark");
        // To root, Wireshark reads its data from the system's folder alone; in a user namespace root is somebody else.
        let mut command = if is_root() { Command::new("unshare") } else { self.program("tshark") };
        if is_root() {
            command.args(["--user", "--map-user=1000", "--map-group=1000"]).arg(tshark.get_program());
        }
        command.envs(tshark.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("WIRESHARK_DATA_DIR", self.data());
        command
    }

    /// Whether tshark finds its data here.
    pub(super) fn check_data(&self) -> Result<(), Error> {
        let data = self.data();
        let folders =
            self.tshark().args(["-G", "folders"]).output().map_err(io_error("run tshark for", &data))?;
        if String::from_utf8_lossy(&folders.stdout).contains(&*data.to_string_lossy()) {
            return Ok(());
        }
        let what =
            format!("tshark that reads its data from {}; as root it needs user namespaces", data.display());
        Err(Error::Missing { list: vec![what], remedy: "apt-get install tshark".to_string() })
    }

    /// Wireshark's data.
    fn data(&self) -> PathBuf {
        self.root.join("usr/share/wireshark")
    }

    /// Links from Wireshark's data to its settings, which name the place in the system, are made to name that in here.
    pub(super) fn relink(&self) -> Result<(), Error> {
        for link in entries(&self.data())? {
            let target =
                fs::read_link(&link).ok().and_then(|target| target.strip_prefix("/").ok().map(PathBuf::from));
            let Some(target) = target.filter(|target| self.root.join(target).exists()) else { continue };
            fs::remove_file(&link).map_err(io_error("replace", &link))?;
            std::os::unix::fs::symlink(Path::new("../../..").join(target), &link)
                .map_err(io_error("replace", &link))?;
        }
        Ok(())
    }
}
