pub(super) mod invalid_names;

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};
use rustls::{Error, ServerConfig};
use tokio::io::ReadBuf;

/// Room for the first read; most requests fit.
const READ_START: usize = 4 * 1024;
/// The most bytes that arrive before they are processed: a record is at most 16 KiB and 2 KiB of overhead (RFC 8446,
/// 5.2), and a message of the handshake may take several.
const INCOMING_LIMIT: usize = 32 * 1024;
/// The bytes that encryption adds to a record, at most.
const RECORD_OVERHEAD: usize = 64;

/// A TLS connection without its socket. Its buffers exist only while they hold something.
pub(super) struct TlsSession {
    connection: UnbufferedServerConnection,
    /// Bytes from the client that are not processed.
    incoming: Vec<u8>,
    /// Decrypted bytes that nobody has read.
    plain: Vec<u8>,
    plain_read: usize,
    /// Bytes for the client.
    outgoing: Vec<u8>,
    sent: usize,
    /// Whether `incoming` may contain a complete record.
    is_unprocessed: bool,
    is_closed: bool,
    has_failed: bool,
}

/// The output to encrypt, as soon as the session can encrypt.
enum TlsOutput<'a> {
    Nothing,
    Data(&'a [u8]),
    CloseNotify,
}

/// The outcome of a step.
enum SessionStep {
    /// A further step may follow at once.
    Again,
    /// The session has decrypted bytes.
    Plaintext,
    /// The handshake needs more bytes.
    InHandshake,
    /// The handshake is over, and the output, if any, is encrypted.
    Established,
    /// The client sends no more.
    PeerClosed,
    Closed,
}

/// The stage of the session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TlsProgress {
    /// The handshake needs more bytes.
    InHandshake,
    /// The handshake is over, and there are no decrypted bytes to read.
    Established,
    /// Decrypted bytes wait.
    Plaintext,
    /// The client sends no more.
    Closed,
}

impl TlsSession {
    pub(super) fn new(config: Arc<ServerConfig>) -> Result<TlsSession, Error> {
        Ok(TlsSession {
            connection: UnbufferedServerConnection::new(config)?,
            incoming: Vec::new(),
            plain: Vec::new(),
            plain_read: 0,
            outgoing: Vec::new(),
            sent: 0,
            is_unprocessed: false,
            is_closed: false,
            has_failed: false,
        })
    }

    /// Processes what has arrived until there is plaintext or more has to arrive.
    pub(super) fn advance(&mut self) -> Result<TlsProgress, Error> {
        if self.has_plaintext() {
            return Ok(TlsProgress::Plaintext);
        }
        loop {
            let progress = match self.step(&TlsOutput::Nothing)? {
                SessionStep::Again => continue,
                SessionStep::Plaintext => return Ok(TlsProgress::Plaintext),
                SessionStep::InHandshake => TlsProgress::InHandshake,
                SessionStep::Established if !self.is_closed => TlsProgress::Established,
                SessionStep::Established | SessionStep::PeerClosed | SessionStep::Closed => {
                    TlsProgress::Closed
                }
            };
            self.is_unprocessed = false;
            return Ok(progress);
        }
    }

    /// Encrypts `bytes` for the client.
    pub(super) fn encrypt(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.output(&TlsOutput::Data(bytes))
    }

    /// Tells the client that nothing follows.
    pub(super) fn close(&mut self) -> Result<(), Error> {
        self.output(&TlsOutput::CloseNotify)
    }

    fn output(&mut self, output: &TlsOutput<'_>) -> Result<(), Error> {
        loop {
            match self.step(output)? {
                // Bytes that arrived meanwhile are decrypted: at most `INCOMING_LIMIT`.
                SessionStep::Again | SessionStep::Plaintext | SessionStep::PeerClosed => {}
                SessionStep::Established => return Ok(()),
                SessionStep::InHandshake | SessionStep::Closed => {
                    return Err(Error::HandshakeNotComplete);
                }
            }
        }
    }

    /// Takes a step. After an error, the output ends with the alert that tells the client why, and there are no more
    /// steps: rustls would process the same bytes again, and send further alerts.
    fn step(&mut self, output: &TlsOutput<'_>) -> Result<SessionStep, Error> {
        if self.has_failed {
            return Err(Error::General("the session has failed".to_owned()));
        }
        if self.connection.is_handshaking() {
            invalid_names::hide(&mut self.incoming);
        }
        let step = self.process(output);
        if step.is_err() {
            self.has_failed = true;
            // The alert is the last output: in TLS 1.3, the server's hello may precede it.
            while self.connection.wants_write() && self.process(&TlsOutput::Nothing).is_ok() {}
        }
        step
    }

    fn process(&mut self, output: &TlsOutput<'_>) -> Result<SessionStep, Error> {
        let UnbufferedStatus { mut discard, state } =
            self.connection.process_tls_records(&mut self.incoming);
        let step = match state {
            Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                while let Some(record) = traffic.next_record() {
                    let record = record?;
                    discard += record.discard;
                    self.plain.extend_from_slice(record.payload);
                }
                Ok(SessionStep::Plaintext)
            }
            Ok(ConnectionState::EncodeTlsData(mut data)) => {
                let encode = |room: &mut [u8]| data.encode(room).map_err(room_to_encode);
                append(&mut self.outgoing, 0, encode).map(|()| SessionStep::Again)
            }
            Ok(ConnectionState::TransmitTlsData(data)) => {
                // The bytes are in `outgoing`, which is sent in order.
                data.done();
                Ok(SessionStep::Again)
            }
            Ok(ConnectionState::WriteTraffic(mut traffic)) => match output {
                TlsOutput::Nothing => Ok(()),
                TlsOutput::Data(bytes) => {
                    let room = bytes.len() + RECORD_OVERHEAD;
                    append(&mut self.outgoing, room, |room| {
                        traffic.encrypt(bytes, room).map_err(room_to_encrypt)
                    })
                }
                TlsOutput::CloseNotify => append(&mut self.outgoing, RECORD_OVERHEAD, |room| {
                    traffic.queue_close_notify(room).map_err(room_to_encrypt)
                }),
            }
            .map(|()| SessionStep::Established),
            Ok(ConnectionState::BlockedHandshake) => Ok(SessionStep::InHandshake),
            Ok(ConnectionState::PeerClosed) => {
                self.is_closed = true;
                Ok(SessionStep::PeerClosed)
            }
            Ok(ConnectionState::Closed) => Ok(SessionStep::Closed),
            // Early data is not offered.
            Ok(_) => Err(Error::General("unexpected state".to_owned())),
            Err(error) => Err(error),
        };
        if step.is_ok() {
            self.incoming.drain(..discard);
        }
        // After an error the bytes stay: rustls panics without those that it has seen.
        step
    }

    /// Room for bytes from the client; `None` when a message is too long.
    pub(super) fn room(&mut self) -> Option<&mut Vec<u8>> {
        let held = self.incoming.len();
        let limit = if held < READ_START {
            READ_START
        } else {
            INCOMING_LIMIT
        };
        if held >= INCOMING_LIMIT {
            return None;
        }
        if self.incoming.capacity() == held {
            self.incoming.reserve_exact(limit - held);
        }
        self.is_unprocessed = true;
        Some(&mut self.incoming)
    }

    /// Whether there are bytes that `advance` has not seen, or that nobody has read.
    pub(super) fn has_more(&self) -> bool {
        self.has_plaintext() || (self.is_unprocessed && !self.incoming.is_empty())
    }

    fn has_plaintext(&self) -> bool {
        self.plain_read < self.plain.len()
    }

    /// The name that the client asks for, if its hello has just arrived as a whole; `None` if it offers `protocol`.
    pub(super) fn asked_name(&self, protocol: &[u8]) -> Option<&[u8]> {
        invalid_names::asked_name(&self.incoming, protocol)
    }

    /// The protocol that the handshake has chosen.
    pub(super) fn protocol(&self) -> Option<&[u8]> {
        self.connection.alpn_protocol()
    }

    /// Whether a part of a record has arrived.
    pub(super) fn is_in_record(&self) -> bool {
        !self.incoming.is_empty()
    }

    /// Moves decrypted bytes. Returns whether there were any.
    pub(super) fn read(&mut self, buf: &mut ReadBuf<'_>) -> bool {
        let plain = &self.plain[self.plain_read..];
        let count = plain.len().min(buf.remaining());
        buf.put_slice(&plain[..count]);
        self.plain_read += count;
        if !self.has_plaintext() {
            self.plain = Vec::new();
            self.plain_read = 0;
        }
        count > 0
    }

    /// Bytes for the client that were not sent.
    pub(super) fn unsent(&self) -> &[u8] {
        &self.outgoing[self.sent..]
    }

    /// Notes a number of the unsent bytes as sent.
    pub(super) fn note_sent(&mut self, bytes: usize) {
        self.sent += bytes;
        if self.sent == self.outgoing.len() {
            self.outgoing = Vec::new();
            self.sent = 0;
        }
    }

    /// The client's certificate, followed by its chain.
    pub(super) fn client_certificates(&self) -> Option<&[CertificateDer<'static>]> {
        self.connection.peer_certificates()
    }

    /// Frees the buffer for reading if it is empty.
    pub(super) fn release(&mut self) {
        if self.incoming.is_empty() {
            self.incoming = Vec::new();
        }
    }

    /// Bytes that the buffers take.
    pub(super) fn held_bytes(&self) -> usize {
        self.incoming.capacity() + self.plain.capacity() + self.outgoing.capacity()
    }
}

/// Lets `encode` append to `out`, with this much room at first.
fn append(
    out: &mut Vec<u8>,
    room: usize,
    mut encode: impl FnMut(&mut [u8]) -> Result<usize, Option<usize>>,
) -> Result<(), Error> {
    let start = out.len();
    let mut room = room;
    loop {
        out.resize(start + room, 0);
        match encode(&mut out[start..]) {
            Ok(count) => {
                out.truncate(start + count);
                return Ok(());
            }
            Err(required) => {
                out.truncate(start);
                match required {
                    Some(required) if required > room => room = required,
                    _ => return Err(Error::EncryptError),
                }
            }
        }
    }
}

/// The room that the encoder has asked for with an error.
#[expect(clippy::needless_pass_by_value, reason = "as `map_err` wants it")]
fn room_to_encode(error: EncodeError) -> Option<usize> {
    match error {
        EncodeError::InsufficientSize(it) => Some(it.required_size),
        EncodeError::AlreadyEncoded => None,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` wants it")]
fn room_to_encrypt(error: EncryptError) -> Option<usize> {
    match error {
        EncryptError::InsufficientSize(it) => Some(it.required_size),
        EncryptError::EncryptExhausted => None,
    }
}

#[cfg(test)]
mod tests;
