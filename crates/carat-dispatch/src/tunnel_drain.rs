use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_exchange::{WorkerTunnels, clock};
use carat_log::LaneTag;

use crate::lane_choice::LaneChoice;
use crate::lanes::{Lane, LaneEvent, LaneEvents};

/// The tunnels that have a deadline: the tunnels of workers that get no more requests, or all tunnels when the server
/// stops.
#[derive(Debug, Default)]
pub(crate) struct TunnelDrain(RefCell<Vec<DrainingTunnels>>);

/// The tunnels of one worker.
#[derive(Debug)]
struct DrainingTunnels {
    /// A lane of the worker.
    lane: LaneTag,
    tunnels: WorkerTunnels,
    since: Instant,
}

impl TunnelDrain {
    /// Sets the deadline of the tunnels of all workers: they end after `tunnel_timeout` at the latest.
    pub(crate) fn begin_all(&self, lanes: &LaneChoice) {
        for lane in lanes.list() {
            self.begin(&lane);
        }
    }

    /// Sets the deadline of the tunnels of this lane's worker: they end after `tunnel_timeout` at the latest.
    pub(crate) fn begin(&self, lane: &Rc<Lane>) {
        let mut draining = self.0.borrow_mut();
        // After the death of a worker, another worker may have its number and the same lane tags.
        draining.retain(|known| {
            known.lane.worker != lane.tag.worker || known.tunnels.are_those_of(&lane.tunnels)
        });
        if draining
            .iter()
            .all(|known| known.lane.worker != lane.tag.worker)
        {
            draining.push(DrainingTunnels {
                lane: lane.tag,
                tunnels: lane.tunnels.clone(),
                since: clock::now(),
            });
        }
    }

    /// Closes the tunnels that have drained for longer than `limit`, and reports workers without any. Called once a tick.
    pub(crate) fn expire(
        &self,
        limit: Duration,
        now: Instant,
        lanes: &LaneChoice,
        events: &LaneEvents,
    ) {
        self.0.borrow_mut().retain(|draining| {
            if draining.tunnels.count() == 0 {
                // A request that still runs may open another tunnel.
                let is_drained = lanes.is_drained(draining.lane.worker);
                if is_drained {
                    events.send(LaneEvent::Drained(draining.lane));
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
    pub(crate) fn close_all(&self, lanes: &LaneChoice) {
        self.begin_all(lanes);
        for draining in self.0.borrow().iter() {
            draining.tunnels.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tunnels_end_in_time_whose_worker_has_the_number_of_one_that_died() {
        let (drain, lanes) = (TunnelDrain::default(), LaneChoice::default());
        let (events, _reported) = LaneEvents::channel();
        let workers = [1, 1].map(|worker| {
            let lane = Lane::unshared(worker, 1);
            drain.begin(&lane);
            lane
        });
        let [_, lane] = &workers;
        lanes.add(lane);
        let tunnel = lane.tunnels.open();
        drain.expire(Duration::ZERO, clock::now(), &lanes, &events);

        let cx = &std::task::Context::from_waker(std::task::Waker::noop());
        assert!(tunnel.poll_closing(cx));
    }

    #[test]
    fn a_worker_without_tunnels_is_drained_at_once_and_reported_once() {
        let (drain, lanes) = (TunnelDrain::default(), LaneChoice::default());
        let (events, mut reported) = LaneEvents::channel();
        let lane = Lane::unshared(1, 1);
        lanes.add(&lane);
        drain.begin(&lane);
        drain.begin(&lane);
        for expected in [Some(LaneEvent::Drained(lane.tag)), None] {
            drain.expire(Duration::ZERO, clock::now(), &lanes, &events);
            assert_eq!(reported.try_recv().ok(), expected);
        }
    }
}
