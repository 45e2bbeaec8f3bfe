//! Orders that arrive at the control socket or from another edge.

mod canary_hold;
mod control;
mod hand_over;
