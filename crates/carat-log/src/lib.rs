//! The edge's log: lines as text or JSON, the names that processes have in them, and the thread that writes them.

mod field_value;
mod lane_tag;
mod log;
mod log_text;
mod log_writer;
mod timestamp;
mod worker_id;

pub use field_value::FieldValue;
pub use lane_tag::LaneTag;
pub use log::{Field, Level, Log, complaint};
pub use log_text::{block, is_hidden, json_printable, quoted, shortened};
pub use log_writer::LogWriter;
pub use timestamp::Timestamp;
pub use worker_id::WorkerId;
