use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_link::MissingDescriptors;
use carat_wire::Hijack;
use http::{Response, StatusCode};

use crate::dispatcher::Dispatcher;
use crate::dispatcher::traffic::FrameBatch;
use crate::draining_tunnels::DrainingTunnels;
use crate::lanes::{Lane, LaneEvent, LaneState, LoggedRequest};
use carat_exchange::{Refusal, Reply, ReplyBody, ReplyContent, SpoolReservation, Tunnel, clock};
use carat_files::SlowFile;
use carat_log::WorkerId;

impl FrameBatch<'_> {
    /// The application took over the connection before it responded.
    pub(crate) fn hijacked(&self, frame: Hijack, socket: Result<SlowFile, MissingDescriptors>) {
        let Some(exchange) = self.lane.waiting(frame.id) else {
            // Nobody waits any more: the application reads the end of its socket.
            return;
        };
        self.lane.keep_taken_over(frame.id, self.now);
        let app_time = Duration::from_micros(u64::from(frame.app_micros));
        self.dispatcher
            .note_outcome(self.lane, app_time, socket.is_err());
        let begun = exchange.arrived + app_time;
        if let Ok(socket) = socket {
            let mut response = Response::new(self.tunnel(socket, true));
            *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
            exchange.settle(Ok(Reply {
                response,
                spooled: SpoolReservation::of(&self.dispatcher.spool_quota),
                queue_time: self.now.saturating_duration_since(begun),
                app_time,
            }));
        } else {
            self.dispatcher.log.error(
                "connection not handed over: too many files are open",
                &[("request", &LoggedRequest(&exchange))],
            );
            exchange.settle(Err(Refusal::ReplyLost));
        }
    }

    /// A tunnel of this worker that ends in this socket.
    pub(crate) fn tunnel(&self, socket: SlowFile, is_raw: bool) -> ReplyBody {
        let tunnel = Tunnel {
            socket: UnixStream::from(OwnedFd::from(socket.into_file())),
            is_raw,
            place: self.lane.tunnels().open(),
        };
        ReplyContent::Tunnel(Box::new(tunnel)).into()
    }
}

/// Connections that applications have taken over.
impl Dispatcher {
    /// How many tunnels this worker has.
    pub fn tunnels_on(&self, worker: WorkerId) -> usize {
        let lanes = self.lanes.borrow();
        let lane = lanes.iter().find(|lane| lane.tag.worker == worker);
        lane.map_or(0, |lane| lane.tunnels().count())
    }

    /// The tunnels of all workers end after `tunnel_timeout` at the latest.
    pub fn drain_tunnels(&self) {
        for lane in self.lanes.borrow().iter() {
            self.drain_tunnels_of(lane);
        }
    }

    /// The server goes on: only the tunnels of workers that end have a deadline.
    pub fn keep_tunnels(&self) {
        let ends = |worker| {
            let lanes = self.lanes_of(worker);
            lanes.iter().all(|lane| lane.state() != LaneState::Open)
        };
        let mut draining = self.draining_tunnels.borrow_mut();
        draining.retain(|known| ends(known.lane.worker));
    }

    /// The tunnels of the worker of this lane end after `tunnel_timeout` at the latest.
    pub(crate) fn drain_tunnels_of(&self, lane: &Rc<Lane>) {
        let mut draining = self.draining_tunnels.borrow_mut();
        let is_known = draining
            .iter()
            .any(|known| known.lane.worker == lane.tag.worker);
        if !is_known {
            draining.push(DrainingTunnels {
                lane: lane.tag,
                tunnels: lane.tunnels().clone(),
                since: clock::now(),
            });
        }
    }

    /// Closes the tunnels of draining workers whose time is over, and reports workers without any. Called once a tick.
    pub(crate) fn expire_tunnels(&self, now: Instant) {
        let limit = self.pauses.extend(self.settings().tunnel_timeout, now);
        self.draining_tunnels.borrow_mut().retain(|draining| {
            if draining.tunnels.count() == 0 {
                // Unless a request that is still running opens another one.
                let is_drained = self.is_drained(draining.lane.worker);
                if is_drained {
                    self.events.send(LaneEvent::Drained(draining.lane));
                }
                return !is_drained;
            }
            if now.saturating_duration_since(draining.since) >= limit {
                draining.tunnels.close();
            }
            true
        });
    }

    /// Closes all tunnels.
    pub(crate) fn close_tunnels(&self) {
        self.drain_tunnels();
        for draining in self.draining_tunnels.borrow().iter() {
            draining.tunnels.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use std::io::Read;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::PendingReply;
    use crate::fixture::{Fixture, locally};
    use crate::lanes::LaneState;

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
            assert_eq!((lane.in_flight().len(), lane.tunnels().count()), (1, 1));
            let later = Instant::now() + Duration::from_secs(3600);
            assert!(lane.overdue(later, Duration::from_secs(1)).is_empty());
            lane.release(1, later);
            drop(tunnel);
            assert_eq!(lane.tunnels().count(), 0);
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
            assert_eq!(lane.tunnels().count(), 0);
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
            assert!(!fixture.dispatcher.is_drained(worker));
            while fixture.events.try_recv().is_ok() {}

            let cx = Context::from_waker(Waker::noop());
            fixture.dispatcher.expire_tunnels(clock::now());
            assert!(!tunnel.place.poll_closing(&cx));
            let late = clock::now() + fixture.dispatcher.settings().tunnel_timeout;
            fixture.dispatcher.expire_tunnels(late);
            assert!(tunnel.place.poll_closing(&cx));
            drop(tunnel);
            fixture.dispatcher.expire_tunnels(late);
            let drained = LaneEvent::Drained(fixture.lanes[0].tag);
            assert_eq!(fixture.events.try_recv(), Ok(drained));
            assert!(fixture.dispatcher.draining_tunnels.borrow().is_empty());
        });
    }
}
