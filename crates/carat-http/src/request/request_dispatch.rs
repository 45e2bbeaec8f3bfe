use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use http::Response;

use carat_dispatch::{Dispatcher, PendingReply};
use carat_exchange::{
    Call, ClientMemory, MemoryAccount, Refusal, Reply, ReplyBody, RequestTimes, SpoolReservation,
};

/// The way of requests out of the edge, to the workers.
#[derive(Debug)]
pub struct RequestDispatch {
    /// The queue and the lanes.
    pub dispatcher: Rc<Dispatcher>,
    pub(crate) memory: Rc<ClientMemory>,
    /// Whether the application is told when the request arrived: the option `request_start`.
    pub(crate) stamps: bool,
}

impl RequestDispatch {
    /// Passes a request to a worker, or to the queue.
    pub fn dispatch(&self, mut call: Call) -> Result<PendingReply, Refusal> {
        if self.stamps {
            // A clock that stands before 1970 is wrong; the time is left out then.
            call.waits_since = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        }
        self.dispatcher.dispatch(call)
    }

    /// The memory that all clients make the edge hold.
    pub fn client_memory(&self) -> &Rc<ClientMemory> {
        &self.memory
    }

    /// An account of the memory for a request that no client has sent.
    pub fn account(&self) -> Rc<MemoryAccount> {
        self.memory.account()
    }

    /// A reply that no worker has made.
    pub fn own_reply(&self, response: Response<ReplyBody>) -> Reply {
        Reply {
            response,
            spooled: SpoolReservation::of(self.dispatcher.spool_quota()),
            times: RequestTimes::default(),
        }
    }
}
