//! Carries frames and file descriptors over a Unix stream socket without blocking.
//!
//! An [`Outbox`] gathers frames and sends as many as possible in one call. An [`Inbox`] reads what is
//! there and returns complete frames. The caller waits until the socket is ready: the edge in tokio,
//! the Ruby extension in `rb_io_wait`.
//!
//! ```
//! use carat_link::{Inbox, Outbox};
//! use std::os::unix::net::UnixStream;
//!
//! let (near, far) = UnixStream::pair()?;
//! let mut outbox = Outbox::default();
//! carat_wire::stream::encode_end(outbox.buffer(), 7);
//! outbox.flush(&near)?;
//!
//! let mut inbox = Inbox::default();
//! inbox.fill(&far)?;
//! assert_eq!(inbox.frames.next()?.expect("complete").kind, carat_wire::Kind::End);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod arrived_descriptors;
mod inbox;
mod outbox;

pub use arrived_descriptors::{ArrivedDescriptors, MissingDescriptors};
pub use inbox::{Fill, Frames, Inbox, READ_LIMIT};
pub use outbox::{Flush, Outbox};

/// The most descriptors in one message: the kernel's limit (`SCM_MAX_FD`).
pub const DESCRIPTORS_LIMIT: usize = 253;
