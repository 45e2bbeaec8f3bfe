//! Orders that arrive at the control socket.

mod canary_hold;
mod console;
mod control;
