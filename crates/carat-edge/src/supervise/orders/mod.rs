//! Orders that arrive at the control socket.

mod control;
mod one_off;
