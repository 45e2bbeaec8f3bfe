//! The frames that travel between the edge and the Ruby processes.
//!
//! A frame is a little-endian `u32` length of the rest, one byte of [`Kind`], and a payload. This crate encodes into a
//! `Vec<u8>` and decodes from a slice. It does no I/O, and knows neither HTTP parsing nor Ruby. File descriptors travel
//! beside the bytes, in the order of the frames that announce them. The frame that has the first descriptor of a
//! message is marked.
//!
//! ```
//! use carat_wire::{Frame, Kind, stream};
//!
//! let mut bytes = Vec::new();
//! stream::encode_chunk(&mut bytes, 7, b"hello");
//! let frame = Frame::first(&bytes).expect("well formed").expect("complete");
//! assert_eq!(frame.kind, Kind::Chunk);
//! assert_eq!(stream::Chunk::decode(frame.payload).expect("well formed").data, b"hello");
//! ```

#![forbid(unsafe_code)]

mod collection_reasons;
pub mod control;
mod frame;
mod hello;
pub mod hints;
mod page;
pub mod request;
pub mod response;
pub mod stream;

mod codec {
    //! The fields that frames are made of.

    mod cursor;
    pub(crate) mod form_files;
    mod header;
    mod malformed;
    mod scheme;

    pub use cursor::TEXT_LIMIT;
    pub(crate) use cursor::{Cursor, push_long, push_short, push_text};
    pub use form_files::FormFiles;
    pub use header::{
        EncodedHeaders, Headers, NAMES, Name, VARIABLE_MARK, code_of, extend_header, name_of,
        push_header, push_variable,
    };
    pub use malformed::Malformed;
    pub use scheme::Scheme;
}

pub use codec::FormFiles;
pub use codec::Malformed;
pub use codec::Scheme;
pub use codec::{
    EncodedHeaders, Headers, NAMES, Name, VARIABLE_MARK, code_of, extend_header, name_of,
    push_header, push_variable,
};
pub use collection_reasons::{FullReason, HasteReason};
pub use frame::{FRAME_LIMIT, Frame, HEADER_BYTES, Kind, mark_first_descriptor};
pub use hello::{Hello, SocketKind, VERSION};
pub use page::{Page, Word, is_behind};
pub use request::{Request, RequestBody, RequestHead};
pub use response::{Collection, CollectionDue, Hijack, Response, ResponseBody};
