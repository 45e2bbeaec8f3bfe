use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::rc::Rc;

use rustix::process::Signal;

use crate::supervise::messages::Mailbox;
use crate::supervise::upgrade::Successor;
use carat_dispatch::FrameTransport;
use carat_settings::Settings;
use carat_supervisor::MemorySubjects;

/// The machine that the Ruby processes run on, as far as the executor acts on it.
pub(crate) trait Host {
    /// The edge's end of a socket.
    type Socket: FrameTransport + 'static;

    /// The root of the kernel's files: `/`.
    fn root(&self) -> &Path;

    /// A socket pair: the edge's end, and the end of a process.
    fn socket_pair(&self) -> io::Result<(Self::Socket, UnixStream)>;

    /// Runs the command that loads the application, with this control socket, and returns its process id.
    fn start_mold(
        &self,
        generation: u32,
        settings: &Settings,
        control: UnixStream,
    ) -> io::Result<u32>;

    /// Reads the configuration as it is now. The result goes to the mailbox.
    fn read_settings(&self, current: Rc<Settings>, mailbox: Mailbox);

    /// Starts the new edge of an upgrade. Its messages go to the mailbox.
    fn start_successor(&self, settings: &Settings, mailbox: Mailbox) -> io::Result<Successor>;

    /// Sends a signal to a child that has not been reaped, so that no other process can have its process id.
    fn signal(&self, pid: u32, signal: Signal);

    /// Sends a signal, 0 for none, to all processes of a group. False if the group has no process.
    fn signal_group(&self, group: u32, signal: i32) -> bool;

    /// Reads the memory of these processes and of the edge. Clients make the edge hold `clients` bytes. The reading
    /// goes to the mailbox.
    fn read_memory(&self, subjects: MemorySubjects, clients: u64, mailbox: Mailbox);
}
