use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_link::MissingDescriptors;
use carat_wire::Hijack;
use http::{Response, StatusCode};

use super::dispatcher::Dispatcher;
use super::draining_tunnels::DrainingTunnels;
use super::exchange::LoggedRequest;
use super::lane::Lane;
use super::lane_event::LaneEvent;
use super::traffic::FrameBatch;
use super::worker_id::WorkerId;
use crate::clock;
use crate::exchange::{Refusal, Reply, ReplyBody, ReplyContent, SpoolReservation, Tunnel};

impl FrameBatch<'_> {
    /// The application took over the connection before it responded.
    pub(super) fn hijacked(&self, frame: Hijack, socket: Result<File, MissingDescriptors>) {
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
    pub(super) fn tunnel(&self, socket: File, is_raw: bool) -> ReplyBody {
        let tunnel = Tunnel {
            socket: UnixStream::from(OwnedFd::from(socket)),
            is_raw,
            place: self.lane.tunnels().open(),
        };
        ReplyContent::Tunnel(Box::new(tunnel)).into()
    }
}

/// Connections that applications have taken over.
impl Dispatcher {
    /// How many tunnels this worker has.
    pub(crate) fn tunnels_on(&self, worker: WorkerId) -> usize {
        let lanes = self.lanes.borrow();
        let lane = lanes.iter().find(|lane| lane.tag.worker == worker);
        lane.map_or(0, |lane| lane.tunnels().count())
    }

    /// The tunnels of all workers end after `tunnel_timeout` at the latest.
    pub(crate) fn drain_tunnels(&self) {
        for lane in self.lanes.borrow().iter() {
            self.drain_tunnels_of(lane);
        }
    }

    /// The tunnels of the worker of this lane end after `tunnel_timeout` at the latest.
    pub(super) fn drain_tunnels_of(&self, lane: &Rc<Lane>) {
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
    pub(super) fn expire_tunnels(&self, now: Instant) {
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
    pub(super) fn close_tunnels(&self) {
        self.drain_tunnels();
        for draining in self.draining_tunnels.borrow().iter() {
            draining.tunnels.close();
        }
    }
}
