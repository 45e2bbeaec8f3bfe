use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::acme::{ACME_TLS, is_host_name};
use super::clients::client_variables;
use super::config::TlsConfig;
use super::handshake_error::HandshakeError;
use super::session::{TlsProgress, TlsSession};
use carat_exchange::ClientVariable;
use carat_http::WrappedStream;

/// The most bytes that are encrypted at once: the largest record.
const WRITE_LIMIT: usize = 16 * 1024;

/// A TLS connection.
pub(crate) struct TlsStream {
    tcp: TcpStream,
    session: TlsSession,
    /// Bytes of a write that are encrypted but not sent completely. They count as written once they
    /// are sent.
    encrypted: usize,
    /// The protocol that the handshake has chosen; `None` for HTTP/1.1.
    protocol: Option<&'static str>,
}

impl TlsStream {
    /// Begins a handshake on this connection.
    pub(crate) fn new(tcp: TcpStream, config: &TlsConfig) -> Result<TlsStream, HandshakeError> {
        let session = TlsSession::new(Arc::clone(&config.rustls));
        Ok(TlsStream {
            tcp,
            session: session.map_err(HandshakeError::Refused)?,
            encrypted: 0,
            protocol: None,
        })
    }

    /// Variables about the client for the application, after the handshake.
    pub(crate) fn client_variables(&self, config: &TlsConfig) -> Vec<ClientVariable> {
        if config.asks_clients {
            client_variables(self.session.client_certificates())
        } else {
            Vec::new()
        }
    }

    /// Reads once what the client has sent.
    pub(crate) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), HandshakeError>> {
        match ready!(self.poll_fill(cx)) {
            Ok(0) => Poll::Ready(Err(HandshakeError::Closed)),
            Ok(_) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(HandshakeError::Lost(error))),
        }
    }

    /// The name of the host that the client asks for, in lower case, if its hello has just arrived. `None` for what is no
    /// name of a host on the Internet, and for an authority that validates a name.
    pub(crate) fn asked_name(&self) -> Option<String> {
        let name = self.session.asked_name(ACME_TLS)?;
        let name = std::str::from_utf8(name).ok()?.to_ascii_lowercase();
        is_host_name(&name).then_some(name)
    }

    /// Processes what was received, which takes most of a handshake's time. Returns whether the
    /// handshake is complete.
    pub(crate) fn shake_hands(&mut self) -> Result<bool, HandshakeError> {
        match self.session.advance() {
            Ok(TlsProgress::InHandshake) => Ok(false),
            Ok(TlsProgress::Established | TlsProgress::Plaintext) => Ok(true),
            // An authority closes the connection after the handshake.
            Ok(TlsProgress::Closed) if self.was_validation() => Ok(true),
            Ok(TlsProgress::Closed) => Err(HandshakeError::Closed),
            Err(error) => {
                self.send_alert();
                Err(HandshakeError::Refused(error))
            }
        }
    }

    /// Sends what the session has for the client.
    pub(crate) fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.session.unsent().is_empty() {
            let sent = ready!(Pin::new(&mut self.tcp).poll_write(cx, self.session.unsent()))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.session.note_sent(sent);
        }
        Poll::Ready(Ok(()))
    }

    /// Ends a connection whose client was told what is wrong, and drops up to this many bytes that
    /// the client still sends. A socket that is closed with unread bytes resets the connection, and
    /// the client would lose the alert. Ready when the client has left, or has sent too much.
    pub(crate) fn poll_leave(&mut self, cx: &mut Context<'_>, left: &mut usize) -> Poll<()> {
        let _ = ready!(Pin::new(&mut self.tcp).poll_shutdown(cx));
        loop {
            let mut dropped = [0; 1024];
            let mut dropped = ReadBuf::new(&mut dropped);
            let read = ready!(Pin::new(&mut self.tcp).poll_read(cx, &mut dropped));
            let count = dropped.filled().len();
            if read.is_err() || count == 0 || count > *left {
                return Poll::Ready(());
            }
            *left -= count;
        }
    }

    /// Notes the protocol that a complete handshake has chosen.
    pub(crate) fn settle(&mut self, config: &TlsConfig) {
        let chosen = self.session.protocol();
        let mut offered = config.protocols.iter().copied();
        self.protocol = offered.find(|name| chosen == Some(name.as_bytes()));
    }

    /// Whether this was the validation of a name, after which nothing follows.
    pub(crate) fn was_validation(&self) -> bool {
        self.session.protocol() == Some(ACME_TLS)
    }

    /// Reads once. Returns 0 at the end.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        loop {
            if self.tcp.poll_read_ready(cx)?.is_pending() {
                self.session.release();
                return Poll::Pending;
            }
            let Some(room) = self.session.room() else {
                return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
            };
            match self.tcp.try_read_buf(room) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read),
            }
        }
    }

    /// Tells the client what was wrong, if the socket has room for it, without waiting.
    fn send_alert(&mut self) {
        // The connection ends either way.
        let _ = self.tcp.try_write(self.session.unsent());
    }

    fn encrypt(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.session.encrypt(bytes).map_err(invalid)?;
        self.encrypted = bytes.len();
        Ok(())
    }

    fn poll_encrypted(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        ready!(self.poll_send(cx))?;
        Poll::Ready(Ok(std::mem::take(&mut self.encrypted)))
    }
}

impl WrappedStream for TlsStream {
    fn socket(&self) -> &TcpStream {
        &self.tcp
    }

    fn protocol(&self) -> Option<&'static str> {
        self.protocol
    }

    fn held_bytes(&self) -> usize {
        self.session.held_bytes()
    }

    fn is_in_record(&self) -> bool {
        self.session.is_in_record()
    }

    fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.session.has_more() {
            return Poll::Ready(Ok(()));
        }
        self.tcp.poll_read_ready(cx)
    }
}

fn invalid(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl AsyncRead for TlsStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if this.session.read(buf) || buf.remaining() == 0 {
                return Poll::Ready(Ok(()));
            }
            match this.session.advance() {
                Ok(TlsProgress::Plaintext) => continue,
                Ok(TlsProgress::Closed) => return Poll::Ready(Ok(())),
                Ok(TlsProgress::Established | TlsProgress::InHandshake) => {}
                Err(error) => {
                    this.send_alert();
                    return Poll::Ready(Err(invalid(error)));
                }
            }
            // The session may have an output, such as an update of the keys. If it cannot be sent
            // now, it goes before the next response.
            if let Poll::Ready(Err(error)) = this.poll_send(cx) {
                return Poll::Ready(Err(error));
            }
            if ready!(this.poll_fill(cx))? == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

/// A write counts once it is sent completely, so that the layer that uses this stream decides when
/// the client is slow. Until then, the caller offers the same bytes again.
impl AsyncWrite for TlsStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.encrypted == 0 && !bytes.is_empty() {
            this.encrypt(&bytes[..bytes.len().min(WRITE_LIMIT)])?;
        }
        this.poll_encrypted(cx)
            .map_ok(|count| count.min(bytes.len()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let filled: Vec<_> = slices.iter().filter(|slice| !slice.is_empty()).collect();
        match filled[..] {
            [] => return Poll::Ready(Ok(0)),
            [only] => return self.poll_write(cx, only),
            [first, ..] if first.len() >= WRITE_LIMIT => return self.poll_write(cx, first),
            _ => {}
        }
        let this = self.get_mut();
        if this.encrypted == 0 {
            // The headers and a small body become one record.
            let mut gathered = Vec::new();
            for slice in filled {
                let room = WRITE_LIMIT - gathered.len();
                gathered.extend_from_slice(&slice[..slice.len().min(room)]);
            }
            this.encrypt(&gathered)?;
        }
        this.poll_encrypted(cx)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_send(cx)
    }

    /// Ends the connection, without waiting for a client that reads nothing.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.session.close().is_ok() {
            let _ = this.poll_send(cx)?;
        }
        Pin::new(&mut this.tcp).poll_shutdown(cx)
    }
}
