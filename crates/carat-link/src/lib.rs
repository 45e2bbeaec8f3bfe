//! Carries frames and file descriptors over a Unix stream socket without blocking.
//!
//! An [`Outbox`] gathers frames and sends as many as it can in one call; an [`Inbox`] reads what is
//! there and hands out whole frames. Waiting until the socket is ready is the caller's: the edge
//! waits in tokio, the Ruby extension in `rb_io_wait`.
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

mod inbox;
mod outbox;

pub use inbox::{Fill, Frames, Inbox, READ_LIMIT};
pub use outbox::{Flush, Outbox};

/// How many descriptors travel in one message: the kernel's own limit (`SCM_MAX_FD`).
pub const DESCRIPTORS_LIMIT: usize = 253;
