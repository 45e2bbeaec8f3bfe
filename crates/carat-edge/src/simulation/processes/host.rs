use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::rc::Rc;

use rustix::process::Signal;

use crate::simulation::plan::Moment;
use crate::simulation::processes::process::SimulatedProcess;
use crate::simulation::processes::process_table::ProcessTable;
use crate::simulation::processes::socket::SimulatedSocket;
use crate::supervise::{FreshSettings, Host, Mailbox, Successor};
use carat_settings::Settings;
use carat_supervisor::MemorySubjects;

/// A machine whose processes are simulated.
#[derive(Debug)]
pub(crate) struct SimulatedHost(pub(crate) Rc<ProcessTable>);

impl Host for SimulatedHost {
    type Socket = SimulatedSocket;

    fn root(&self) -> &Path {
        Path::new("/no kernel has files here")
    }

    fn socket_pair(&self) -> io::Result<(SimulatedSocket, UnixStream)> {
        if self.0.fault(4) {
            return Err(io::Error::other("too many open files"));
        }
        let (near, wire, far) = self.0.wires.pair()?;
        let near = SimulatedSocket::new(near, wire, Rc::clone(&self.0.world));
        Ok((near, far))
    }

    fn start_mold(
        &self,
        _generation: u32,
        _settings: &Settings,
        control: UnixStream,
    ) -> io::Result<u32> {
        if self.0.fault(5) {
            return Err(io::Error::other("no such command"));
        }
        let pid = self.0.next_pid();
        let mold = SimulatedProcess::mold(pid, control.into(), &self.0);
        self.0.insert(mold);
        Ok(pid)
    }

    fn read_settings(&self, current: Rc<Settings>, _mailbox: Mailbox) {
        let read = if self.0.fault(100) {
            Err("a syntax error".to_owned())
        } else {
            Ok(FreshSettings {
                settings: Box::new(Settings::clone(&current)),
                unchanged: Vec::new(),
            })
        };
        let took = self.0.random.between(1_000, 200_000);
        self.0.after(took, Moment::SettingsRead(read));
    }

    fn start_successor(&self, _: &Settings, _: Mailbox) -> io::Result<Successor> {
        Err(io::Error::other("no edge is simulated beside this one"))
    }

    fn signal(&self, pid: u32, signal: Signal) {
        self.0
            .note("signal", pid.into(), signal.as_raw().unsigned_abs().into());
        if signal == Signal::KILL {
            self.0.after(self.0.latency(), Moment::Kill(pid));
        } else if let Some(process) = self.0.processes.borrow_mut().get_mut(&pid) {
            process.terminate(&self.0);
        }
    }

    fn signal_group(&self, group: u32, signal: i32) -> bool {
        self.0.signal_group(group, signal)
    }

    fn read_memory(&self, subjects: MemorySubjects, _clients: u64, _mailbox: Mailbox) {
        let took = self.0.random.between(100, 20_000);
        self.0.after(took, Moment::MemoryRead(subjects));
    }
}
