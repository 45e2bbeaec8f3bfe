//! Orders that arrive at the control socket.

mod console;
mod control;
