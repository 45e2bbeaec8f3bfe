use crate::Malformed;

/// The length field in front of every frame, in bytes.
pub const HEADER_BYTES: usize = 4;

/// The largest frame in bytes: an inline body, headers at their limits, and some room.
pub const FRAME_LIMIT: usize = 8 * 1024 * 1024;

/// The bit in the byte of the kind that marks the frame with the first descriptor of a message.
const FIRST_DESCRIPTOR: u8 = 0x80;

/// Declares the kinds of frames, and how a kind is read from its byte.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $byte:literal,)+) => {
        /// The meaning of a frame.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Kind {
            $($(#[$doc])* $kind = $byte,)+
        }

        impl Kind {
            fn from_byte(byte: u8) -> Result<Kind, Malformed> {
                match byte {
                    $($byte => Ok(Kind::$kind),)+
                    other => Err(Malformed::UnknownKind(other)),
                }
            }
        }
    };
}

kinds! {
    /// The first frame on every socket: see [`Hello`](crate::Hello).
    Hello = 1,
    /// Worker or mold: ready for work.
    Ready = 2,
    /// Finish what is running, take nothing new, then close.
    Drain = 3,
    /// The sender sends nothing more. From the edge to the mold: the server stops.
    Bye = 4,
    /// Edge: a request for the application.
    Request = 16,
    /// Worker: the response of the application.
    Response = 17,
    /// A piece of a streamed body.
    Chunk = 18,
    /// The end of a streamed body.
    End = 19,
    /// How many more bytes of a stream the other side may send.
    Window = 20,
    /// The stream of this request is aborted before its end.
    Abort = 21,
    /// Worker: the descriptors of this request did not all arrive, and the application did not begin it.
    DescriptorsLost = 22,
    /// Worker: the application takes over the connection of this request: see [`Hijack`](crate::Hijack).
    Hijack = 23,
    /// Worker: fields that the client gets before the response: see [`Hints`](crate::hints::Hints).
    Hints = 24,
    /// Worker: the thread of this lane runs code after its response. The page says until when.
    Lingers = 25,
    /// Worker: a full garbage collection is due in this process: see [`CollectionDue`](crate::CollectionDue).
    CollectionDue = 26,
    /// Worker: a request waited for full garbage collections: see [`Collection`](crate::Collection).
    Collection = 27,
    /// Edge to mold: fork a worker.
    ForkWorker = 32,
    /// Mold or worker: the boot failed.
    BootFailed = 33,
    /// Edge to worker: send the stack of a request.
    AskStack = 34,
    /// Worker: the stack of a request.
    Stack = 35,
    /// Worker: a signal told the worker to end, so it asks to be drained.
    Leaving = 36,
    /// Edge to worker: finish what is running, and become the mold of the next generation. The worker
    /// replies with `Ready`, `BootFailed` or `NotForkSafe`.
    Promote = 37,
    /// Edge to worker or mold: send your statistics.
    AskStats = 38,
    /// Worker or mold: the statistics of the process, as JSON.
    Stats = 39,
    /// From a promoted worker: why no worker of its generation can become the mold. From a worker that was asked: why
    /// it could not become the mold now.
    NotForkSafe = 40,
    /// Mold: the files of the application's code, as JSON.
    Sources = 41,
    /// Edge to worker: say whether you could become the mold. The worker replies with `ForkSafe` or `NotForkSafe`.
    AskForkSafety = 42,
    /// From a worker that was asked: it could become the mold.
    ForkSafe = 43,
    /// Edge to worker: you have had nothing to do for a while; return free memory to the system.
    TrimMemory = 44,
    /// Edge to worker: begin to sample allocations, or clocks.
    BeginProfile = 45,
    /// Edge to worker: end the profile, and reply with `Profile`.
    EndProfile = 46,
    /// Worker: the samples, or why there are none, as JSON.
    Profile = 47,
    /// Edge to mold: fork a further process of the application.
    ForkApp = 48,
    /// Edge to a further process that has sent `Ready`: run the application's block. A process that the edge has given
    /// up never gets this frame.
    Begin = 49,
    /// Further process to the edge: the load of the processes of its name.
    Load = 56,
    /// Client of the control socket to the edge, and the edge to a process that has sent `Ready`: the order to run. The
    /// client's standard streams, three descriptors, travel with the frame. The client gets `Begin` when the process
    /// runs, `BootFailed` if it never will, and `Exited` at its end.
    OneOff = 50,
    /// Client with a one-off process to the edge: send this signal to the process.
    Signal = 51,
    /// Edge to a client: see [`Exited`](crate::control::Exited).
    Exited = 52,
    /// A Ruby process to a part of the edge: see [`PartMessage`](crate::control::PartMessage).
    PartMessage = 53,
    /// Edge to worker: run a full garbage collection now, because you have no request, or few. The worker replies with
    /// `Collected`.
    Collect = 54,
    /// From a worker that was told to collect: see [`Collected`](crate::control::Collected).
    Collected = 55,
    /// Edge to worker: leave the full collection that is due to Ruby, since the others have too little time to spare.
    DeclineCollection = 57,
}

/// A frame at the front of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The meaning of the frame.
    pub kind: Kind,
    /// Whether the first descriptor of a message of the socket belongs to this frame.
    pub has_first_descriptor: bool,
    /// The bytes after the kind.
    pub payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The first frame of `bytes`, or `None` while it is incomplete.
    pub fn first(bytes: &'a [u8]) -> Result<Option<Frame<'a>>, Malformed> {
        let Some((length, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length);
        if length as usize > FRAME_LIMIT {
            return Err(Malformed::TooLarge(length));
        }
        let Some(body) = rest.get(..length as usize) else {
            return Ok(None);
        };
        let (kind, payload) = body.split_first().ok_or(Malformed::Truncated)?;
        Ok(Some(Frame {
            kind: Kind::from_byte(kind & !FIRST_DESCRIPTOR)?,
            has_first_descriptor: kind & FIRST_DESCRIPTOR != 0,
            payload,
        }))
    }

    /// Bytes of the frame in its buffer, length field included.
    pub fn size(&self) -> usize {
        HEADER_BYTES + 1 + self.payload.len()
    }
}

/// Marks the encoded frame at the beginning of `bytes` as the one that has the first descriptor of a message of the
/// socket. A receiver that has lost descriptors of one message thus knows where the descriptors of the next message
/// begin.
pub fn mark_first_descriptor(bytes: &mut [u8]) {
    if let Some(kind) = bytes.get_mut(HEADER_BYTES) {
        *kind |= FIRST_DESCRIPTOR;
    }
}

/// Appends a frame; `payload` writes its payload.
pub(crate) fn push(out: &mut Vec<u8>, kind: Kind, payload: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    out.push(kind as u8);
    payload(out);
    let length = u32::try_from(out.len() - start - HEADER_BYTES)
        .expect("callers keep frames under FRAME_LIMIT");
    out[start..start + HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
}

/// Declares a message whose fields have a fixed size. Its frame has these fields in this order; a text may follow them.
macro_rules! message {
    ($(#[$doc:meta])* $name:ident $(<$life:lifetime>)? {
        $($(#[$field_doc:meta])* $field:ident: $number:ident,)+
    } $($(#[$text_doc:meta])* then $text:ident)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name $(<$life>)? {
            $($(#[$field_doc])* pub $field: $number,)+
            $($(#[$text_doc])* pub $text: &$life [u8],)?
        }

        impl $(<$life>)? $name $(<$life>)? {
            /// Appends the frame to `out`.
            pub fn encode(&self, out: &mut Vec<u8>) {
                $crate::frame::push(out, $crate::Kind::$name, |out| {
                    $(out.extend_from_slice(&self.$field.to_le_bytes());)+
                    $($crate::codec::push_text(out, self.$text);)?
                });
            }

            /// Reads the payload.
            pub fn decode(payload: &$($life)? [u8]) -> Result<Self, $crate::Malformed> {
                let mut cursor = $crate::codec::Cursor::new(payload);
                let message = $name {
                    $($field: cursor.$number()?,)+
                    $($text: cursor.rest(),)?
                };
                cursor.end()?;
                Ok(message)
            }
        }
    };
}
pub(crate) use message;

/// Appends a frame whose payload is a number, such as the id of a request.
pub(crate) fn push_number(out: &mut Vec<u8>, kind: Kind, number: u32) {
    push(out, kind, |out| {
        out.extend_from_slice(&number.to_le_bytes());
    });
}

/// Appends a frame without a payload.
pub(crate) fn push_empty(out: &mut Vec<u8>, kind: Kind) {
    push(out, kind, |_| {});
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_incomplete_until_its_last_byte() {
        let mut bytes = Vec::new();
        push(&mut bytes, Kind::Bye, |out| out.extend_from_slice(b"xy"));
        for end in 0..bytes.len() {
            assert_eq!(Frame::first(&bytes[..end]), Ok(None));
        }
        let frame = Frame::first(&bytes)
            .expect("well formed")
            .expect("complete");
        let found = (frame.kind, frame.payload, frame.size());
        assert_eq!(found, (Kind::Bye, &b"xy"[..], bytes.len()));
    }

    #[test]
    fn a_mark_changes_nothing_else_about_a_frame() {
        let mut bytes = Vec::new();
        push(&mut bytes, Kind::Response, |out| out.push(7));
        let frame = |bytes: &[u8]| {
            let frame = Frame::first(bytes).expect("well formed").expect("complete");
            let kind = frame.kind;
            (kind, frame.has_first_descriptor, frame.payload.to_vec())
        };
        assert_eq!(frame(&bytes), (Kind::Response, false, vec![7]));
        mark_first_descriptor(&mut bytes);
        assert_eq!(frame(&bytes), (Kind::Response, true, vec![7]));
    }

    #[test]
    fn a_frame_over_the_limit_is_refused_before_it_is_buffered() {
        assert_eq!(
            Frame::first(&u32::MAX.to_le_bytes()),
            Err(Malformed::TooLarge(u32::MAX))
        );
    }

    #[test]
    fn an_unknown_kind_and_an_empty_frame_are_refused() {
        let found = Frame::first(&[1, 0, 0, 0, 250]);
        assert_eq!(found, Err(Malformed::UnknownKind(122)));
        assert_eq!(Frame::first(&[0, 0, 0, 0]), Err(Malformed::Truncated));
    }
}
