use std::rc::Rc;
use std::sync::Arc;

use carat_guard::HeaderLimits;
use http::{Request, Response};
use tokio::sync::Semaphore;

use crate::parts::{ProtocolCore, ServedRequest};
use crate::request::TrackedBody;
use crate::server::Server;
use crate::time_limits::{ActiveConnections, Deadlines};
use carat_body::request::ReceivedBody;
use carat_exchange::{ClientMemory, ConnectionState, Peer, Refusal};
use carat_log::Log;
use carat_settings::Settings;

impl ProtocolCore for Server {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn log(&self) -> &Log {
        &self.log
    }

    fn serve(
        &self,
        request: Request<ReceivedBody>,
        peer: &Rc<Peer>,
        state: &Rc<ConnectionState>,
    ) -> ServedRequest {
        Box::pin(self.steps.serve(request, peer, state))
    }

    fn refuse(
        &self,
        request: Request<ReceivedBody>,
        peer: &Rc<Peer>,
        state: &Rc<ConnectionState>,
        refusal: Refusal,
    ) -> ServedRequest {
        Box::pin(self.steps.refuse(request, peer, state, refusal))
    }

    fn refused(
        &self,
        refusal: Refusal,
        peer: &Rc<Peer>,
        state: &Rc<ConnectionState>,
    ) -> Response<TrackedBody> {
        let entry = self.steps.access_log.start_refused(peer, refusal);
        let response = refusal.into_response();
        response.map(|body| TrackedBody::new(body.into(), entry, Rc::clone(state), None))
    }

    fn header_limits(&self) -> HeaderLimits {
        Server::header_limits(self)
    }

    fn client_memory(&self) -> &Rc<ClientMemory> {
        Server::client_memory(self)
    }

    fn deadlines(&self) -> &Rc<Deadlines> {
        &self.deadlines
    }

    fn active(&self) -> &ActiveConnections {
        &self.active
    }

    fn further_replies(&self) -> &Arc<Semaphore> {
        self.permits.further_replies()
    }

    fn is_draining(&self) -> bool {
        self.draining.is_set()
    }

    fn are_first_requests_over(&self) -> bool {
        self.first_requests_over.is_set()
    }

    fn turns_away(&self) -> bool {
        Server::turns_away(self)
    }
}
