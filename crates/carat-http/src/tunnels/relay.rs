use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite};

use super::direction::{BrokenSide, TunnelDirection};

/// How a tunnel ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RelayEnd {
    /// The client has what the application has sent.
    Complete,
    /// The client is gone.
    ClientGone,
}

/// Carries bytes both ways between a client and the application's socket, and passes on the end of each direction.
pub(crate) struct Relay<A> {
    application: A,
    /// The direction from the client.
    up: TunnelDirection,
    /// The direction from the application.
    down: TunnelDirection,
}

impl<A: AsyncRead + AsyncWrite + Unpin> Relay<A> {
    /// A relay that first passes on `received`, which the client has already sent, and sends `head` to the client
    /// first.
    pub(crate) fn new(application: A, received: Vec<u8>, head: Vec<u8>) -> Relay<A> {
        Relay {
            application,
            up: TunnelDirection::beginning_with(received),
            down: TunnelDirection::beginning_with(head),
        }
    }

    /// The application's socket.
    pub(crate) fn application(&self) -> &A {
        &self.application
    }

    /// The application's socket, for reading and writing.
    pub(crate) fn application_mut(&mut self) -> &mut A {
        &mut self.application
    }

    /// Bytes that the buffers take.
    pub(crate) fn held_bytes(&self) -> usize {
        self.up.held_bytes() + self.down.held_bytes()
    }

    /// How many bytes the client has taken since the last call.
    pub(crate) fn take_written(&mut self) -> usize {
        self.down.take_count()
    }

    /// Whether bytes of the application wait for the client.
    pub(crate) fn awaits_client(&self) -> bool {
        self.down.is_blocked()
    }

    /// Whether bytes of the client wait for the application.
    pub(crate) fn awaits_application(&self) -> bool {
        self.up.is_blocked()
    }

    /// Whether the application has ended its direction, and the client has not.
    pub(crate) fn is_half_closed(&self) -> bool {
        self.down.is_over() && !self.up.is_over()
    }

    /// Moves the bytes of the application. `note` gets them.
    pub(crate) fn poll_down(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut (impl AsyncWrite + Unpin),
        note: impl FnMut(&[u8]),
    ) -> Option<RelayEnd> {
        let moved = self.down.poll(cx, &mut self.application, client, note);
        match moved {
            Poll::Ready(Err(BrokenSide::Reader)) => Some(RelayEnd::ClientGone),
            // The application closed its socket before it had read everything.
            Poll::Ready(Err(BrokenSide::Writer)) => Some(RelayEnd::Complete),
            Poll::Ready(Ok(())) if self.up.is_over() => Some(RelayEnd::Complete),
            Poll::Ready(Ok(())) | Poll::Pending => None,
        }
    }

    /// Moves the bytes of the client. `note` gets them.
    pub(crate) fn poll_up(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut (impl AsyncRead + Unpin),
        note: impl FnMut(&[u8]),
    ) -> Option<RelayEnd> {
        let moved = self.up.poll(cx, client, &mut self.application, note);
        match moved {
            Poll::Ready(Err(BrokenSide::Writer)) => return Some(RelayEnd::ClientGone),
            // The application reads no more; what it has sent is still passed on.
            Poll::Ready(Err(BrokenSide::Reader)) => self.up.give_up(),
            Poll::Ready(Ok(())) | Poll::Pending => {}
        }
        (self.up.is_over() && self.down.is_over()).then_some(RelayEnd::Complete)
    }

    /// Ends the direction from the client: no more of its bytes are moved.
    pub(crate) fn stop_client(&mut self) {
        self.up.give_up();
    }
}
