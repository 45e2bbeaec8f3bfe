use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::ops::ControlFlow;
use std::rc::Rc;

use http::header::CONTENT_TYPE;
use http::{Request, Response, StatusCode, Version};

use crate::parts::{EdgeCore, Part, PartList, PartStep, ReplyStep};
use crate::readiness::ReadinessChecks;
use crate::request::{
    AccessLog, ArrivedRequest, ConnectionEnd, ReplySearch, RequestAnswer, RequestContext,
    RequestDispatch, RequestSlots, Takeovers, TrackedBody, WaitingRequest, asks_to_close,
    check_prefix, cut, delimit, take_body,
};
use carat_body::request::{ReceivedBody, RequestBodies, RequestReceiver};
use carat_body::response::{ClientBody, RangeRequest};
use carat_exchange::{Call, ConnectionState, Peer, ProxyPolicy, Refusal, Reply, clock};
use carat_files::are_too_many_waiting;
use carat_settings::UrlPrefix;

/// The path of a request to the application, and of its response to the client.
pub(super) struct Steps {
    pub(super) access_log: AccessLog,
    pub(super) proxies: ProxyPolicy,
    prefix: Option<UrlPrefix>,
    receiver: Rc<RequestReceiver>,
    pub(super) readiness: ReadinessChecks,
    dispatch: Rc<RequestDispatch>,
    parts: Rc<PartList>,
    takeovers: Takeovers,
    pub(super) end: ConnectionEnd,
}

impl Steps {
    pub(super) fn new(core: &EdgeCore, parts: &Rc<PartList>) -> Rc<Steps> {
        let (settings, log) = (&core.settings, &core.log);
        let dispatch = Rc::clone(&core.dispatch);
        let dispatcher = &dispatch.dispatcher;
        let transforms = parts.iter().filter_map(Part::transform);
        let bodies = RequestBodies::new(settings, log, dispatcher.spool_quota());
        Rc::new(Steps {
            proxies: ProxyPolicy::new(settings),
            prefix: settings.prefix.clone(),
            receiver: Rc::new(RequestReceiver::new(bodies, transforms)),
            readiness: ReadinessChecks::new(settings),
            parts: Rc::clone(parts),
            access_log: core.access_log.clone(),
            dispatch,
            takeovers: Takeovers::new(core.tunnel_permits.clone()),
            end: ConnectionEnd::default(),
        })
    }

    /// Serves one request.
    ///
    /// A request without a body is dispatched before this returns. hyper moves the returned future around, so it is
    /// kept small.
    pub(super) fn serve(
        self: &Rc<Self>,
        request: Request<ReceivedBody>,
        peer: &Rc<Peer>,
        state: &Rc<ConnectionState>,
    ) -> impl Future<Output = Result<Response<TrackedBody>, Infallible>> + use<> {
        let (mut request, mut context) = self.begin(request, peer, state);
        let ControlFlow::Break(answer) = self.request(&mut request, &mut context);
        let steps = Rc::clone(self);
        async move { Ok(steps.response(answer, &mut context).await) }
    }

    /// Refuses a request that no step has seen.
    pub(super) fn refuse(
        self: &Rc<Self>,
        request: Request<ReceivedBody>,
        peer: &Rc<Peer>,
        state: &Rc<ConnectionState>,
        refusal: Refusal,
    ) -> impl Future<Output = Result<Response<TrackedBody>, Infallible>> + use<> {
        let (_, mut context) = self.begin(request, peer, state);
        let refused = RequestAnswer::Now(Err(refusal));
        let steps = Rc::clone(self);
        async move { Ok(steps.response(refused, &mut context).await) }
    }

    /// Collects what the steps need to know, and starts the line of the access log.
    fn begin(
        &self,
        mut request: Request<ReceivedBody>,
        peer: &Rc<Peer>,
        state: &Rc<ConnectionState>,
    ) -> (ArrivedRequest, RequestContext) {
        let fields = request.headers_mut();
        let forwarded = self.proxies.receive(peer.proxy_fields, fields);
        let (closes, ranges) = (asks_to_close(&request), RangeRequest::of(&request));
        let (parts, body) = request.into_parts();
        let version = parts.version;
        let mut call = Call::new(parts, Rc::clone(peer), Rc::clone(state.memory()));
        call.forwarded = forwarded;
        if version >= Version::HTTP_11 {
            call.hints = Some(Rc::<ConnectionState>::clone(state));
        }
        let entry = self.access_log.start(&mut call);
        let mut context = RequestContext {
            state: Rc::clone(state),
            dispatch: Rc::clone(&self.dispatch),
            entry,
            slots: RequestSlots::default(),
            is_http10: version == Version::HTTP_10,
            closes,
            scheme: call.scheme(),
            ranges,
            spooled: None,
        };
        for part in self.parts.steps() {
            part.begin(&mut call, &mut context);
        }
        (ArrivedRequest::new(call, body), context)
    }

    /// The steps of a request. The first step that answers is the last one.
    fn request(
        &self,
        request: &mut ArrivedRequest,
        context: &mut RequestContext,
    ) -> ControlFlow<RequestAnswer, Infallible> {
        for part in self.parts.steps() {
            part.admit(request, context)?;
        }
        context.refuse_if(are_too_many_waiting(clock::now), Refusal::NoDescriptors)?;
        check_prefix(request, context, self.prefix.as_ref())?;
        take_body(request, context, &self.receiver)?;
        self.readiness.check(request)?;
        ControlFlow::Break(self.answer(request, context, 0))
    }

    /// Asks the parts for an answer, beginning with the index `first`, and then the application.
    fn answer(
        &self,
        request: &mut ArrivedRequest,
        context: &mut RequestContext,
        first: usize,
    ) -> RequestAnswer {
        for (index, part) in self.parts.steps().enumerate().skip(first) {
            match part.answer(request, context) {
                PartStep::Next => {}
                PartStep::Answer(answer) => return answer,
                PartStep::Wait(search) => return wait(search, request, index + 1),
            }
        }
        RequestAnswer::Now(self.dispatch.dispatch(request.take_call()))
    }

    /// The reply to a request. After a wait that has brought nothing, the next step follows.
    async fn reply(
        &self,
        mut answer: RequestAnswer,
        context: &mut RequestContext,
    ) -> Result<Reply, Refusal> {
        loop {
            answer = match answer {
                RequestAnswer::Now(pending) => return pending?.await,
                RequestAnswer::Later(reply) => return reply.await,
                RequestAnswer::Found(reply) => return Ok(*reply),
                RequestAnswer::Waits(waiting) => match waiting.search.await? {
                    Some(found) => return Ok(found),
                    None => self.resume(waiting.call, waiting.next, context),
                },
            };
        }
    }

    fn resume(&self, call: Call, next: usize, context: &mut RequestContext) -> RequestAnswer {
        let mut request = ArrivedRequest::new(call, ReceivedBody::None);
        self.answer(&mut request, context, next)
    }

    /// The steps of a response.
    async fn response(
        &self,
        answer: RequestAnswer,
        context: &mut RequestContext,
    ) -> Response<TrackedBody> {
        // In a block, so that the following code can reuse the room of the future.
        let mut response = {
            let mut reply = self.reply(answer, context).await;
            for part in self.parts.steps().rev() {
                let slow = part.reply(&mut reply, context);
                if let Some(slow) = slow {
                    if slow.await == ReplyStep::TakenOver {
                        pending::<()>().await;
                    }
                }
            }
            poll_fn(|cx| context.state.interim.poll_written(cx)).await;
            if self.takeovers.leave(&mut reply, context) {
                pending::<()>().await;
            }
            cut(reply, context)
        };
        for part in self.parts.steps().rev() {
            let Ok(whole) = &mut response else { break };
            let Some(slow) = part.body(whole, context) else {
                continue;
            };
            if let Err(refusal) = slow.await {
                response = Err(refusal);
            }
        }
        let mut response = response.unwrap_or_else(|refusal| self.refused(refusal, context));
        if response.status() == StatusCode::NOT_MODIFIED {
            // RFC 9110, section 15.4.5: the client has the type with the body.
            response.headers_mut().remove(CONTENT_TYPE);
        }
        delimit(&mut response, context);
        let mut response = TrackedBody::track(response, context);
        for part in self.parts.steps() {
            part.fields(response.headers_mut(), context);
        }
        self.end.announce(&mut response, context);
        response
    }

    /// The response to a refused request, which says why.
    fn refused(&self, refusal: Refusal, context: &mut RequestContext) -> Response<ClientBody> {
        context.entry.refused(refusal);
        let mut response = refusal.into_response();
        for part in self.parts.steps() {
            part.refused(refusal, &mut response, context);
        }
        response.map(ClientBody::from)
    }
}

fn wait(search: ReplySearch, request: &mut ArrivedRequest, next: usize) -> RequestAnswer {
    let call = request.take_call();
    RequestAnswer::Waits(Box::new(WaitingRequest { search, call, next }))
}
