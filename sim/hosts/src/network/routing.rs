//! The routing of a router: FRR's daemons `zebra` and `ospfd`, in its network namespace.
//!
//! They find each other, and are asked, by sockets in a folder of their own, so that many routers fit on a machine. FRR wants a group of
//! its own in the system's list, which is there for it alone (a mount namespace), so that nothing has to be installed.
//!
//! # Test plan
//!
//! With the network: what OSPF finds is what was built.

use crate::namespace::Namespace;
use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Where the daemons are unless this variable says another folder.
const VARIABLE: &str = "DELTALINE_FRR";
const FOLDER: &str = "/usr/lib/frr";
const DAEMONS: [&str; 2] = ["zebra", "ospfd"];
/// Puts a list of groups in the place of the system's, and becomes a daemon.
const WITH_GROUPS: &str = r#"mount --bind "$1" /etc/group && shift && exec "$@""#;
/// How long a daemon may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// FRR's daemons.
#[derive(Clone, Debug)]
pub struct Suite(PathBuf);

impl Suite {
    /// Finds them: in the folder that the variable `DELTALINE_FRR` names, or where Debian has them.
    ///
    /// # Errors
    ///
    /// Where they are not.
    pub fn find() -> io::Result<Self> {
        let folder = PathBuf::from(env::var_os(VARIABLE).unwrap_or_else(|| FOLDER.into()));
        match DAEMONS.iter().all(|daemon| folder.join(daemon).is_file()) {
            true => Ok(Suite(folder)),
            false => {
                let what =
                    format!("no FRR in {}; install it, or name its folder in {VARIABLE}", folder.display());
                Err(io::Error::new(io::ErrorKind::NotFound, what))
            }
        }
    }
}

/// A router's end of a link.
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) cost: u32,
}

/// A router's daemons, as long as this lives.
pub(super) struct Routing {
    daemons: Vec<Child>,
    folder: TempDir,
}

impl Routing {
    /// Starts them for a router of this identifier, which is its address as well.
    pub(super) fn start(
        suite: &Suite,
        namespace: &Namespace,
        identifier: Ipv4Addr,
        interfaces: &[Interface],
    ) -> io::Result<Self> {
        let mut routing = Routing { daemons: vec![], folder: TempDir::new()? };
        let folder = routing.folder.path().to_path_buf();
        let groups = folder.join("group");
        fs::write(&groups, fs::read_to_string("/etc/group").unwrap_or_default() + "frrvty:x:0:\n")?;
        for (daemon, settings) in DAEMONS.into_iter().zip([zebra(identifier), ospfd(identifier, interfaces)])
        {
            let file = |ending: &str| folder.join(format!("{daemon}.{ending}"));
            fs::write(file("conf"), settings)?;
            let mut command = Command::new("unshare");
            command.args(["--mount", "--propagation", "private", "sh", "-c", WITH_GROUPS, "sh"]);
            command.arg(&groups).arg(suite.0.join(daemon));
            command.arg("-f").arg(file("conf")).arg("-i").arg(file("pid"));
            command.arg("-z").arg(folder.join("zserv")).arg("--vty_socket").arg(&folder);
            command.args(["-u", "root", "-g", "root", "-P", "0"]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(file("log"))?);
            routing.daemons.push(namespace.inside(|| command.spawn())??);
        }
        Ok(routing)
    }

    /// What `show ip ospf database router json` says here.
    pub(super) fn database(&self) -> io::Result<String> {
        ask(&self.folder.path().join("ospfd.vty"), "show ip ospf database router json")
    }
}

impl Drop for Routing {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            // It may have ended by itself.
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// Packets from here are from the router's own address, whatever link they leave by.
fn zebra(identifier: Ipv4Addr) -> String {
    format!("route-map SOURCE permit 10\n set src {identifier}\nip protocol ospf route-map SOURCE\n")
}

fn ospfd(identifier: Ipv4Addr, interfaces: &[Interface]) -> String {
    let mut text = String::new();
    for Interface { name, cost } in interfaces {
        text += &format!("interface {name}\n ip ospf network point-to-point\n ip ospf cost {cost}\n");
        // All as fast as it may be. Failures are seen by the carrier: a neighbour is given up for its silence only if the machine stands still.
        text += " ip ospf area 0\n ip ospf hello-interval 1\n ip ospf dead-interval 20\n";
        text += " ip ospf retransmit-interval 1\n";
    }
    text += "interface lo\n ip ospf area 0\n";
    text + &format!(
        "router ospf\n ospf router-id {identifier}\n timers throttle spf 10 50 200\n \
         timers throttle lsa all 50\n timers lsa min-arrival 10\n"
    )
}

/// A daemon's answer, as FRR's own `vtysh` asks for it: the command up to a zero, the answer up to three zeros and a status.
fn ask(socket: &Path, command: &str) -> io::Result<String> {
    let mut daemon = UnixStream::connect(socket)?;
    daemon.set_read_timeout(Some(PATIENCE))?;
    daemon.write_all(format!("{command}\0").as_bytes())?;
    let (mut answer, mut part) = (vec![], [0; 4096]);
    loop {
        if let [text @ .., 0, 0, 0, status] = &answer[..] {
            let text = String::from_utf8_lossy(text).into_owned();
            return if *status == 0 { Ok(text) } else { Err(io::Error::other(format!("{command}: {text}"))) };
        }
        match daemon.read(&mut part)? {
            0 => return Err(io::Error::other(format!("{command}: the daemon ended"))),
            read => answer.extend(&part[..read]),
        }
    }
}
