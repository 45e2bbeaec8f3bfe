//! The invariants that hold whenever the edge waits.

use std::collections::{BTreeMap, BTreeSet};

use super::server_run::ServerRun;
use crate::simulation::world::micros;
use carat_dispatch::{DispatcherView, LaneView};
use carat_settings::RestartPolicy;

/// The most requests in a lane of capacity 1, as in `service_time.rs`.
const MOST_PREFETCHED: usize = 128;
/// The most bytes of requests that a worker has not begun, as in `lane.rs`, plus the largest request.
const MOST_AHEAD: usize = 9 * 1024 * 1024;
/// How long a request may wait behind another one, or behind code that runs after a response, although a lane is idle;
/// in microseconds. The edge recalls it within milliseconds, but workers may read the edge's bytes only at the next
/// tick.
const LONGEST_BEHIND: u64 = 250_000;

/// The longest rest of a worker, in microseconds: until it is told to collect, until it serves again without a reply,
/// and some ticks.
const LONGEST_REST: u64 = 2_000_000 + 5_000_000 + 500_000;

impl ServerRun {
    /// Checks the invariants of the queue and the lanes.
    pub(super) fn check_bounds(&mut self) {
        let view = self.server.dispatcher().inspect();
        self.check_places(&view);
        self.check_order(&view);
        if view.waits_beside_idle_lane {
            self.world
                .violate(format!("requests wait beside an idle lane: {view:?}"));
        }
        if view.wrongly_idle > 0 {
            self.world
                .violate(format!("a lane is idle by mistake: {view:?}"));
        }
        if view.shares.iter().any(|(has, share)| has > share) {
            self.world
                .violate(format!("a pool has more than its share: {view:?}"));
        }
        self.check_rests(&view);
        for lane in &view.lanes {
            let limit = if lane.capacity > 1 {
                lane.capacity
            } else {
                MOST_PREFETCHED
            };
            if lane.held > limit || lane.bytes_ahead > MOST_AHEAD {
                self.world
                    .violate(format!("a lane holds too much: {lane:?}"));
            }
        }
    }

    /// At most one worker in four rests at a time, never the last one, and not for long. Workers that already collect
    /// when others end rest on.
    fn check_rests(&mut self, view: &DispatcherView) {
        let resting = view.resting.len();
        let all = self.rests.most_workers(resting + view.serving);
        let is_one_too_many = self.rests.begins(&view.resting) && resting > (all / 4).max(1);
        if is_one_too_many || (resting > 0 && view.serving == 0) {
            self.world
                .violate(format!("too many workers rest: {view:?}"));
        }
        self.rests.note(&view.resting, self.world.now());
        let lasted = |since: &u64| self.world.spent_since(*since) > LONGEST_REST;
        if self.rests.since.values().any(lasted) {
            self.world.violate(format!("a rest lasts: {view:?}"));
        }
    }

    /// A worker that rests is not replaced by a further one: only requests that have waited for longer than the target
    /// while nobody rested ask for more workers. `before` is the number that was wanted before this tick.
    pub(super) fn check_growth(&mut self, before: u32) {
        let waited = self.rests.take_longest_gap(self.world.now());
        let target = micros(self.world.settings.queue_time_target);
        if self.wanted() > before && waited <= target {
            self.world
                .violate(format!("a rest adds a worker: {before} were wanted"));
        }
    }

    /// Each request whose client waits is in exactly one place: in the queue, or on one lane.
    fn check_places(&self, view: &DispatcherView) {
        let on_lanes = view
            .lanes
            .iter()
            .flat_map(|lane: &LaneView| lane.waiting.iter());
        let places: Vec<usize> = view.queued.iter().chain(on_lanes).copied().collect();
        let different: BTreeSet<usize> = places.iter().copied().collect();
        let ledger = self.world.ledger.borrow();
        let is_exact = different == *ledger.waiting() && different.len() == places.len();
        drop(ledger);
        if !is_exact {
            let waiting = self.world.ledger.borrow().waiting().clone();
            self.world.violate(format!(
                "clients wait for {waiting:?}, the edge has {view:?}"
            ));
        }
    }

    /// No request waits for a busy thread for long while another one is free.
    fn check_order(&mut self, view: &DispatcherView) {
        let now = self.world.now();
        let since = |number| self.behind_since.get(number).copied().unwrap_or(now);
        let behind = view.behind_beside_idle_lane.iter();
        let behind: BTreeMap<usize, u64> = behind.map(|number| (*number, since(number))).collect();
        self.behind_since = behind;
        let waited = |since: &u64| self.world.spent_since(*since) > LONGEST_BEHIND;
        if self.behind_since.values().any(waited) {
            self.world.violate(format!(
                "requests wait for a busy thread beside an idle lane: {view:?}"
            ));
        }
    }

    /// Whether the wanted number of further processes runs. Fewer may run if some are not started again.
    fn has_apps(&self, running: usize) -> bool {
        let wanted = self.wanted_apps();
        let mut declared = self.world.settings.processes.iter();
        let is_refilled = declared.all(|it| it.restart == RestartPolicy::Always);
        running == wanted || (running < wanted && !is_refilled)
    }

    /// Whether the server has recovered: there is no client, one mold, and the wanted number of workers.
    pub(super) fn has_recovered(&self) -> bool {
        if !self.world.is_calm.get() || !self.server.is_idle() {
            return false;
        }
        let processes = self.world.processes.borrow();
        let apps = processes.values().filter_map(|it| it.as_app());
        let consoles = apps.clone().filter(|it| it.is_console()).count();
        let apps = apps.filter(|it| !it.is_meter() && !it.is_console());
        let running = apps.clone().filter(|it| it.is_running && !it.is_ending);
        if apps.clone().count() != running.count() || !self.has_apps(apps.count()) {
            return false;
        }
        if !self.world.consoles.borrow().is_settled(consoles) {
            return false;
        }
        let lasting = processes.values().filter(|it| it.as_app().is_none());
        let ready = lasting.clone().filter(|process| process.is_ready());
        let workers = ready.clone().filter(|process| process.is_worker()).count();
        let wanted = usize::try_from(self.wanted()).expect("few");
        let lanes = usize::from(self.world.settings.lanes());
        let view = self.server.dispatcher().inspect();
        let open = view
            .lanes
            .iter()
            .filter(|lane| lane.is_open && lane.held == 0);
        workers == wanted
            && lasting.count() == wanted + 1
            && ready.count() == wanted + 1
            && view.queue_length == 0
            && open.count() == wanted * lanes
            && view.lanes.len() == wanted * lanes
    }
}
