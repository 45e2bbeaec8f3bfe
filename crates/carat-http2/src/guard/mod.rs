//! The guard of HTTP/2: faults of the frames, and of the decoded requests.

mod block_frame;
mod decoded_head;
mod field_text;
mod frame_parts;
mod frames;
mod hpack_block;
mod huffman;
mod sent_resets;

pub use decoded_head::{DecodedFields, DecodedHead};
pub use frames::FrameFault;
pub use frames::{FrameGuard, PREFACE};
#[cfg(any(test, feature = "fixture"))]
pub use huffman::encode as huffman_code;
pub use sent_resets::SentResets;
