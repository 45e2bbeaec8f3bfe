use crate::KeptBroadcast;

/// What the edge that is taken over from, the old one, and the new one say to each other about the cable.
///
/// All messages for subscribers pass the old edge until it says [`Ordered`](EdgeMessage::Ordered): it sends them to its own
/// clients, and to the new edge in the order in which its sockets get there. So each client gets each of them once, from the
/// edge that has its socket then.
///
/// ```
/// use carat_cable::EdgeMessage;
///
/// let mut bytes = Vec::new();
/// EdgeMessage::Broadcast { stream: "chat", message: b"1" }.encode(&mut bytes);
/// let read = EdgeMessage::decode(&bytes);
/// assert_eq!(read, Some(EdgeMessage::Broadcast { stream: "chat", message: b"1" }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeMessage<'a> {
    /// A message for the subscribers of a stream. To the old edge: one that it is to put in order.
    Broadcast {
        /// The name of the stream.
        stream: &'a str,
        /// A JSON value.
        message: &'a [u8],
    },
    /// To the new edge: it is the turn of the first of its broadcasts that had none yet.
    Turn,
    /// To the new edge: so many sockets could come.
    Offer(u32),
    /// To the old edge: so many may come.
    Room(u32),
    /// To the new edge: a socket, which is beside it, and its [`SocketRecord`](crate::SocketRecord).
    Socket(&'a [u8]),
    /// To the new edge: no more sockets come.
    Moved,
    /// To the new edge: the old one puts no more broadcasts in order.
    Ordered,
    /// To the old edge: the new one keeps what is broadcast. What the old one has kept comes before all that follows.
    Keeps,
    /// To the new edge: a message that is kept.
    Kept(KeptBroadcast<'a>),
    /// To the new edge: the [`HistoryRecord`](crate::HistoryRecord) behind these; empty when the old one keeps nothing.
    History(&'a [u8]),
    /// To the new edge: the [`AwayRecord`](crate::AwayRecord) of a client that may come back.
    Away(&'a [u8]),
    /// To the old edge, which answers behind all that it has said before.
    Ask,
    /// To the new edge.
    Answer,
}

impl<'a> EdgeMessage<'a> {
    /// Appends the message.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let number = |out: &mut Vec<u8>, tag, number: u32| {
            out.push(tag);
            out.extend_from_slice(&number.to_le_bytes());
        };
        let with_bytes = |out: &mut Vec<u8>, tag, bytes: &[u8]| {
            out.push(tag);
            out.extend_from_slice(bytes);
        };
        let on_stream = |out: &mut Vec<u8>, tag, stream: &str, message: &[u8]| {
            number(out, tag, u32::try_from(stream.len()).unwrap_or(u32::MAX));
            out.extend_from_slice(stream.as_bytes());
            out.extend_from_slice(message);
        };
        match *self {
            EdgeMessage::Broadcast { stream, message } => on_stream(out, b'B', stream, message),
            EdgeMessage::Turn => out.push(b'T'),
            EdgeMessage::Offer(count) => number(out, b'O', count),
            EdgeMessage::Room(count) => number(out, b'R', count),
            EdgeMessage::Socket(record) => with_bytes(out, b'S', record),
            EdgeMessage::Moved => out.push(b'M'),
            EdgeMessage::Ordered => out.push(b'D'),
            EdgeMessage::Keeps => out.push(b'K'),
            EdgeMessage::Kept(kept) => {
                on_stream(out, b'P', kept.stream, kept.message);
                let (forgotten, forgotten_at) = kept.forgotten;
                for number in [kept.offset, kept.at, forgotten, forgotten_at] {
                    out.extend_from_slice(&number.to_le_bytes());
                }
            }
            EdgeMessage::History(record) => with_bytes(out, b'H', record),
            EdgeMessage::Away(record) => with_bytes(out, b'A', record),
            EdgeMessage::Ask => out.push(b'?'),
            EdgeMessage::Answer => out.push(b'!'),
        }
    }

    /// Reads a message. `None` if it is none.
    pub fn decode(bytes: &'a [u8]) -> Option<EdgeMessage<'a>> {
        let (tag, rest) = bytes.split_first()?;
        let number = || Some(u32::from_le_bytes(rest.try_into().ok()?));
        match tag {
            b'B' | b'P' => {
                let (length, rest) = rest.split_first_chunk()?;
                let length = u32::from_le_bytes(*length) as usize;
                let (stream, message) = rest.split_at_checked(length)?;
                let stream = std::str::from_utf8(stream).ok()?;
                Some(match tag {
                    b'B' => EdgeMessage::Broadcast { stream, message },
                    _ => EdgeMessage::Kept(kept(stream, message)?),
                })
            }
            b'T' => Some(EdgeMessage::Turn),
            b'O' => number().map(EdgeMessage::Offer),
            b'R' => number().map(EdgeMessage::Room),
            b'S' => Some(EdgeMessage::Socket(rest)),
            b'M' => Some(EdgeMessage::Moved),
            b'D' => Some(EdgeMessage::Ordered),
            b'K' => Some(EdgeMessage::Keeps),
            b'H' => Some(EdgeMessage::History(rest)),
            b'A' => Some(EdgeMessage::Away(rest)),
            b'?' => Some(EdgeMessage::Ask),
            b'!' => Some(EdgeMessage::Answer),
            _ => None,
        }
    }
}

/// The numbers of a message that is kept are behind it.
fn kept<'a>(stream: &'a str, message: &'a [u8]) -> Option<KeptBroadcast<'a>> {
    let (message, numbers) = message.split_last_chunk::<32>()?;
    let mut numbers = numbers.chunks_exact(8).map(TryInto::try_into);
    let mut number = || Some(u64::from_le_bytes(numbers.next()?.ok()?));
    Some(KeptBroadcast {
        offset: number()?,
        at: number()?,
        forgotten: (number()?, number()?),
        stream,
        message,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_is_read_as_it_was_written() {
        let (stream, message) = ("zimmer-ü", &b"{\"a\":1}"[..]);
        for message in [
            EdgeMessage::Broadcast { stream, message },
            EdgeMessage::Turn,
            EdgeMessage::Offer(70_000),
            EdgeMessage::Room(0),
            EdgeMessage::Socket(b"record"),
            EdgeMessage::Moved,
            EdgeMessage::Ordered,
            EdgeMessage::Keeps,
            EdgeMessage::Kept(KeptBroadcast {
                offset: 7,
                at: 1 << 40,
                forgotten: (5, 6),
                stream,
                message,
            }),
            EdgeMessage::History(b"{}"),
            EdgeMessage::Away(b"record"),
            EdgeMessage::Ask,
            EdgeMessage::Answer,
        ] {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            assert_eq!(EdgeMessage::decode(&bytes), Some(message));
        }
    }

    #[test]
    fn what_is_no_message_is_none() {
        for bytes in [
            &b""[..],
            b"X",
            b"O\x01",
            b"R\0\0\0\0\0",
            b"B\xff\0\0\0x",
            b"B\x01\0\0\0\xff",
            b"P\x01\0\0\0a1234567",
        ] {
            assert_eq!(EdgeMessage::decode(bytes), None, "{bytes:?}");
        }
    }
}
