use std::future::Future;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use carat_wire::Scheme;
use http::StatusCode;
use tokio::io::ReadBuf;
use tokio::net::TcpStream;

use super::handshakes::{Handshakes, network};
use crate::config::TlsConfig;
use crate::handshake_error::HandshakeError;
use crate::on_demand::{DemandRefusal, Demands};
use crate::stream::TlsStream;
use carat_exchange::{Fault, MemoryReservation, PartRefusal, Refusal};
use carat_http::{
    ConnectionStart, Handshake, HandshakeEnd, HandshakeWait, StartEnd, WrappedStream,
};

/// How long a client whose handshake was refused may take to leave.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);
/// The most bytes that a client whose handshake was refused may still send.
const LEAVE_LIMIT: usize = 64 * 1024;

/// The refusal of a client that speaks plain HTTP to a TLS port.
const PLAIN_HTTP: Refusal = Refusal::ByPart(&PartRefusal {
    status: StatusCode::BAD_REQUEST,
    reason: "this port speaks HTTPS, and the request is plain HTTP",
    fault: Fault::Client,
    retry_after: None,
});

/// The handshakes of the connections of one listener.
pub(crate) struct TlsHandshake {
    pub(crate) config: TlsConfig,
    /// How long a handshake may take.
    pub(crate) timeout: Duration,
    pub(crate) handshakes: Rc<Handshakes>,
    /// The names that get certificates on demand; `None` if the listener serves only those of its address.
    pub(crate) demands: Option<Rc<Demands>>,
}

impl Handshake for TlsHandshake {
    fn scheme(&self) -> Scheme {
        Scheme::Https
    }

    fn begin<'a>(&'a self, socket: TcpStream, start: ConnectionStart<'a>) -> HandshakeWait<'a> {
        Box::pin(self.shake_hands(socket, start))
    }
}

impl TlsHandshake {
    /// Makes the TLS connection of a client within the timeout. Failures are counted for the log,
    /// except that of a client that sends nothing.
    async fn shake_hands(&self, socket: TcpStream, start: ConnectionStart<'_>) -> HandshakeEnd {
        start.deadline.set(self.timeout);
        let first = in_time(&start, |cx| poll_first_byte(&socket, cx));
        let Ok(first) = first.await else {
            return HandshakeEnd::Over;
        };
        if first.is_ascii_uppercase() {
            self.note_failure(&start, &HandshakeError::PlainHttp);
            return HandshakeEnd::Refused(socket, PLAIN_HTTP);
        }
        match self.establish(socket, &start).await {
            Ok(stream) if stream.was_validation() => HandshakeEnd::Over,
            Ok(mut stream) => {
                stream.settle(&self.config);
                (start.note)("established");
                start.peer.variables = stream.client_variables(&self.config);
                HandshakeEnd::Established(stream)
            }
            Err(error) => {
                self.note_failure(&start, &error);
                HandshakeEnd::Over
            }
        }
    }

    fn note_failure(&self, start: &ConnectionStart<'_>, error: &HandshakeError) {
        (start.note)("failed");
        self.handshakes.note_failure(start.peer, error);
    }

    async fn establish(
        &self,
        socket: TcpStream,
        start: &ConnectionStart<'_>,
    ) -> Result<Box<TlsStream>, HandshakeError> {
        let running = self.handshakes.begin(&start.peer.remote, start.deadline);
        let mut stream = Box::new(TlsStream::new(socket, &self.config)?);
        // The bytes that the session holds. Later, they count in the connection's own account.
        let mut held = MemoryReservation::of(&start.memory.account());
        let mut missing = None;
        loop {
            in_time(start, |cx| stream.poll_receive(cx)).await?;
            held.set(0);
            if !held.try_grow(stream.held_bytes()) {
                return Err(HandshakeError::NoMemory);
            }
            missing = self.await_certificate(&stream, start).await?.or(missing);
            let mut step = pin!(running.step(stream));
            let stepped = in_time(start, |cx| {
                let stepped = ready!(step.as_mut().poll(cx));
                Poll::Ready(stepped.map_err(HandshakeError::Lost))
            });
            let (back, is_complete) = stepped.await?;
            stream = back;
            let is_complete = match is_complete {
                Ok(is_complete) => is_complete,
                Err(error) => {
                    leave(&mut stream, start).await;
                    return Err(missing.unwrap_or(error));
                }
            };
            let sent = in_time(start, |cx| {
                let sent = ready!(stream.poll_send(cx));
                Poll::Ready(sent.map_err(HandshakeError::Lost))
            });
            sent.await?;
            if is_complete {
                return Ok(stream);
            }
        }
    }
}

impl TlsHandshake {
    /// Waits for the certificate of the name that the client asks for, if there is none. Returns why there still is none.
    async fn await_certificate(
        &self,
        stream: &TlsStream,
        start: &ConnectionStart<'_>,
    ) -> Result<Option<HandshakeError>, HandshakeError> {
        let Some(demands) = &self.demands else {
            return Ok(None);
        };
        let asked = stream.asked_name();
        let Some(name) = asked.filter(|name| self.config.certificates.lacks(name)) else {
            return Ok(None);
        };
        let mut met = pin!(demands.meet(&name, network(&start.peer.remote)));
        match start.in_time(|cx| met.as_mut().poll(cx)).await {
            Ok(Ok(())) => Ok(None),
            Ok(Err(refusal)) => Ok(Some(HandshakeError::NoCertificate(name.clone(), refusal))),
            Err(StartEnd::TimedOut) => Err(HandshakeError::NoCertificate(
                name.clone(),
                DemandRefusal::Late,
            )),
            Err(StartEnd::GivenUp) => Err(HandshakeError::Closed),
        }
    }
}

/// Gives a client whose handshake was refused the time to read why.
async fn leave(stream: &mut TlsStream, start: &ConnectionStart<'_>) {
    let mut left = LEAVE_LIMIT;
    start.deadline.set(LEAVE_TIMEOUT);
    // The connection is over either way.
    let _ = start.in_time(|cx| stream.poll_leave(cx, &mut left)).await;
}

/// Looks at the first byte of a client without taking it from the socket.
fn poll_first_byte(socket: &TcpStream, cx: &mut Context<'_>) -> Poll<Result<u8, HandshakeError>> {
    let mut first = [0; 1];
    let peeked = ready!(socket.poll_peek(cx, &mut ReadBuf::new(&mut first)));
    Poll::Ready(match peeked {
        Ok(0) => Err(HandshakeError::Closed),
        Ok(_) => Ok(first[0]),
        Err(error) => Err(HandshakeError::Lost(error)),
    })
}

async fn in_time<T>(
    start: &ConnectionStart<'_>,
    poll: impl FnMut(&mut Context<'_>) -> Poll<Result<T, HandshakeError>>,
) -> Result<T, HandshakeError> {
    match start.in_time(poll).await {
        Ok(result) => result,
        Err(StartEnd::TimedOut) => Err(HandshakeError::Lost(io::ErrorKind::TimedOut.into())),
        Err(StartEnd::GivenUp) => Err(HandshakeError::Closed),
    }
}
