//! The end of a lane: which of its requests are dispatched again, and which fail.

use std::rc::Rc;

use carat_exchange::Refusal;
use carat_log::Log;
use carat_wire::is_behind;
use carat_wire::stream::encode_abort;

use crate::lanes::exchange::{Exchange, LoggedRequest};
use crate::lanes::in_flight::{InFlightRequest, RequestStage};
use crate::lanes::lane::Lane;

/// Takes all requests of a lane that is given up, mostly because its worker is gone. Returns the requests that another
/// worker may serve, oldest first: requests that the worker had not begun, and requests that may be repeated once. The
/// other requests are `lost`.
pub(crate) fn fail_over(lane: &Lane, lost: impl Fn(&Exchange)) -> Vec<Rc<Exchange>> {
    let begun = lane.recall_for_good();
    let mut back = Vec::new();
    for InFlightRequest { id, stage, .. } in lane.take_in_flight() {
        match stage {
            RequestStage::Streaming(sender, _) => sender.abort(),
            RequestStage::TakenOver => {}
            RequestStage::Waiting(exchange) if exchange.is_cancelled() || exchange.is_settled() => {
            }
            RequestStage::Waiting(exchange) => {
                let may_repeat = || exchange.call.may_repeat() && !exchange.retried.replace(true);
                if is_behind(id, begun) || may_repeat() {
                    back.push(exchange);
                } else {
                    lost(&exchange);
                    exchange.settle(Err(Refusal::WorkerLost));
                }
            }
        }
    }
    back
}

/// The worker on trial is gone: no other worker answers in its place.
pub(crate) fn refuse_trial(lane: &Lane) {
    let first = lane.trial.take_first();
    let waiting = lane
        .take_in_flight()
        .filter_map(|request| match request.stage {
            RequestStage::Waiting(exchange) => Some(exchange),
            RequestStage::Streaming(..) | RequestStage::TakenOver => None,
        });
    for exchange in first.into_iter().chain(waiting) {
        exchange.settle(Err(Refusal::WorkerLost));
    }
}

/// Refuses all requests of a lane, because the server stops and waits no longer. A client is asked to repeat its
/// request only if the worker has not begun it.
pub(crate) fn cut_off_lane(lane: &Lane, log: &Log) {
    // If the page cannot be read, all requests count as begun.
    for exchange in lane.recall().unwrap_or_default() {
        cut_off(&exchange, Refusal::Stopping, log);
    }
    for request in lane.take_in_flight() {
        match request.stage {
            RequestStage::Waiting(exchange) => cut_off(&exchange, Refusal::CutOff, log),
            RequestStage::Streaming(sender, _) => {
                sender.abort();
                lane.outbox.push(|out| encode_abort(out, request.id));
            }
            RequestStage::TakenOver => {}
        }
    }
}

/// The server stops, and refuses a request.
pub(crate) fn cut_off(exchange: &Exchange, refusal: Refusal, log: &Log) {
    log.warn(
        "request cut off by the stop",
        &[("request", &LoggedRequest(exchange))],
    );
    exchange.settle(Err(refusal));
}

/// Logs what happened to a request of a worker.
pub(crate) fn report_request(message: &str, lane: &Lane, exchange: &Exchange, log: &Log) {
    let request = LoggedRequest(exchange);
    log.error(
        message,
        &[("worker", &lane.tag.worker), ("request", &request)],
    );
}
