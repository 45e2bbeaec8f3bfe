//! Files that may be large, slow, or not regular, and the threads that open, read, and close them.

mod blocking;
mod configured_file;
mod pid_file;
mod slow_file;
mod socket_file;

pub use blocking::{
    BODY_THREADS, BlockingThreads, CODING_THREADS, CONFIGURATION_THREADS, FILE_THREADS,
    LOOKUP_THREADS, MEMORY_THREAD, REPORT_THREAD, blocking_threads, on_own_thread,
};
pub use configured_file::{in_time, read_configured};
pub use pid_file::PidFile;
pub use slow_file::{SlowFile, are_too_many_waiting, drop_elsewhere, set_further_waiting};
pub use socket_file::{SocketFile, remove_stale};
