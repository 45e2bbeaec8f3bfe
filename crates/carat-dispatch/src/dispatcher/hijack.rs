use std::os::fd::OwnedFd;

use carat_link::MissingDescriptors;
use carat_wire::Hijack;
use http::{Response, StatusCode};

use crate::dispatcher::traffic::FrameBatch;
use crate::lanes::LoggedRequest;
use carat_exchange::{
    Refusal, Reply, ReplyBody, ReplyContent, SpoolReservation, Tunnel, TunnelApplication,
};
use carat_files::SlowFile;

impl FrameBatch<'_> {
    /// The application took over the connection before it responded.
    pub(crate) fn hijacked(&self, frame: Hijack, socket: Result<SlowFile, MissingDescriptors>) {
        let Some(exchange) = self.lane.in_flight().waiting(frame.id) else {
            // The client is gone. The edge closes its end of the socket, and the application reads the end.
            return;
        };
        self.lane.in_flight_mut().take_over(frame.id, self.now);
        if let Ok(socket) = socket {
            let mut response = Response::new(self.tunnel(socket, true));
            *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
            exchange.settle(Ok(Reply {
                response,
                spooled: SpoolReservation::of(&self.dispatcher.spool_quota),
                times: self.times(&exchange, frame.app_micros),
            }));
        } else {
            self.dispatcher.log.error(
                "connection not handed over: too many files are open",
                &[("request", &LoggedRequest(&exchange))],
            );
            exchange.settle(Err(Refusal::ReplyLost));
        }
    }

    /// A tunnel whose other end is this socket of the worker.
    pub(crate) fn tunnel(&self, socket: SlowFile, is_raw: bool) -> ReplyBody {
        let tunnel = Tunnel {
            application: TunnelApplication::Worker(OwnedFd::from(socket.into_file()).into()),
            is_raw,
            place: self.lane.tunnels.open(),
        };
        ReplyContent::Tunnel(Box::new(tunnel)).into()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use std::io::Read;
    use std::os::unix::net::UnixStream;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    use std::time::{Duration, Instant};

    use super::*;
    use crate::PendingReply;
    use crate::dispatcher::expire_tunnels;
    use crate::fixture::{Fixture, locally};
    use crate::lanes::{LaneEvent, LaneState};
    use carat_exchange::clock;

    fn outcome(pending: PendingReply) -> Result<Reply, Refusal> {
        match pin!(pending).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => panic!("no reply"),
        }
    }

    /// The application of this lane hijacks its first request. Returns its socket.
    fn hijack(fixture: &Fixture, lane: usize) -> UnixStream {
        let (near, far) = UnixStream::pair().expect("a pair");
        let lane = &fixture.lanes[lane];
        let batch = FrameBatch {
            lane,
            dispatcher: &fixture.dispatcher,
            now: Instant::now(),
        };
        let frame = Hijack {
            id: lane.ids()[0],
            app_micros: 5,
        };
        batch.hijacked(frame, Ok(File::from(OwnedFd::from(far)).into()));
        near
    }

    fn tunnel(reply: Reply) -> Tunnel {
        match reply.response.into_body().content {
            ReplyContent::Tunnel(tunnel) => *tunnel,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_hijacked_request_stays_on_its_lane_and_is_never_overdue() {
        locally(|| {
            let fixture = Fixture::new(&[1]);
            let pending = fixture.dispatch("GET", "/");
            let _socket = hijack(&fixture, 0);
            let tunnel = tunnel(outcome(pending).expect("a reply"));
            assert!(tunnel.is_raw);
            let lane = &fixture.lanes[0];
            assert_eq!((lane.in_flight().len(), lane.tunnels.count()), (1, 1));
            let later = Instant::now() + Duration::from_secs(3600);
            assert!(lane.overdue(later, Duration::from_secs(1)).is_empty());
            lane.release(1, later);
            drop(tunnel);
            assert_eq!(lane.tunnels.count(), 0);
        });
    }

    #[test]
    fn a_client_that_is_gone_ends_the_socket_of_the_application() {
        locally(|| {
            let fixture = Fixture::new(&[1]);
            let pending = fixture.dispatch("GET", "/");
            let mut socket = hijack(&fixture, 0);
            drop(pending);
            let lane = &fixture.lanes[0];
            lane.release(1, Instant::now());
            assert_eq!(socket.read(&mut [0; 1]).expect("the end"), 0);
            assert_eq!(lane.tunnels.count(), 0);
        });
    }

    #[test]
    fn a_draining_worker_is_drained_when_its_tunnels_are_over() {
        locally(|| {
            let mut fixture = Fixture::new(&[1]);
            let worker = fixture.lanes[0].tag.worker;
            let pending = fixture.dispatch("GET", "/");
            let _socket = hijack(&fixture, 0);
            let tunnel = tunnel(outcome(pending).expect("a reply"));
            fixture.lanes[0].release(1, Instant::now());
            fixture.dispatcher.drain(worker);
            assert_eq!(fixture.lanes[0].state(), LaneState::Draining);
            assert!(!fixture.dispatcher.lanes.is_drained(worker));
            while fixture.events.try_recv().is_ok() {}

            let cx = Context::from_waker(Waker::noop());
            expire_tunnels(&fixture.dispatcher, clock::now());
            assert!(!tunnel.place.poll_closing(&cx));
            let late = clock::now() + fixture.dispatcher.timeouts.settings().tunnel_timeout;
            expire_tunnels(&fixture.dispatcher, late);
            assert!(tunnel.place.poll_closing(&cx));
            drop(tunnel);
            expire_tunnels(&fixture.dispatcher, late);
            let drained = LaneEvent::Drained(fixture.lanes[0].tag);
            assert_eq!(fixture.events.try_recv(), Ok(drained));
            expire_tunnels(&fixture.dispatcher, late);
            assert!(fixture.events.try_recv().is_err());
        });
    }
}
