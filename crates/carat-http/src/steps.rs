use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::ops::ControlFlow;
use std::rc::Rc;

use http::header::CONTENT_TYPE;
use http::{Request, Response, StatusCode, Version};

use crate::cable::Cable;
use crate::cache::{ChangedUrl, ResponseCache};
use crate::request::{
    AccessLog, ArrivedRequest, ConnectionEnd, Later, RequestAnswer, RequestContext,
    RequestDispatch, Takeovers, TrackedBody, asks_to_close, check_prefix, cut, delimit, encode,
    take_body,
};
use crate::site::{DiskSearch, ForceTls, ReadinessChecks, SiteFiles};
use carat_body::request::{ReceivedBody, RequestBodies};
use carat_body::response::{Encoders, RangeRequest, ResponseEncoding};
use carat_dispatch::Dispatcher;
use carat_exchange::{
    Call, ConnectionState, Peer, ProxyFields, ProxyPolicy, Refusal, Reply, clock,
};
use carat_files::are_too_many_waiting;
use carat_log::Log;
use carat_settings::{Settings, UrlPrefix};
use carat_telemetry::TracedClient;

/// The way of a request to the application, and of its response to the client.
pub(super) struct Steps {
    pub(super) access_log: AccessLog,
    pub(super) proxies: ProxyPolicy,
    force_tls: ForceTls,
    prefix: Option<UrlPrefix>,
    bodies: Rc<RequestBodies>,
    pub(super) readiness: ReadinessChecks,
    files: Rc<SiteFiles>,
    dispatch: Rc<RequestDispatch>,
    /// `None` without the option `cache`.
    pub(super) cache: Option<Rc<ResponseCache>>,
    takeovers: Takeovers,
    /// `None` without the option `cable`.
    pub(super) cable: Option<Rc<Cable>>,
    /// `None` when responses are not compressed.
    encoders: Option<Rc<Encoders>>,
    pub(super) end: ConnectionEnd,
}

impl Steps {
    pub(super) fn new(
        settings: &Rc<Settings>,
        log: &Rc<Log>,
        dispatcher: &Rc<Dispatcher>,
        files: &Rc<SiteFiles>,
        access_log: AccessLog,
    ) -> Rc<Steps> {
        let dispatch = Rc::new(RequestDispatch {
            dispatcher: Rc::clone(dispatcher),
            stamps: settings.request_start,
        });
        let takeovers = Takeovers::new(settings);
        Rc::new(Steps {
            proxies: ProxyPolicy::new(settings),
            force_tls: ForceTls::new(settings),
            prefix: settings.prefix.clone(),
            bodies: Rc::new(RequestBodies::new(settings, log, &dispatcher.spool_quota)),
            readiness: ReadinessChecks::new(settings),
            files: Rc::clone(files),
            cache: ResponseCache::new(settings, &dispatch),
            cable: Cable::new(settings, log, &dispatch, access_log.clone(), &takeovers),
            access_log,
            dispatch,
            takeovers,
            encoders: Encoders::new(settings, log),
            end: ConnectionEnd::default(),
        })
    }

    /// Serves one request.
    ///
    /// A request without a body is dispatched before this returns. hyper moves the future around, so what
    /// remains to be awaited is small.
    pub(super) fn serve(
        self: &Rc<Self>,
        request: Request<ReceivedBody>,
        peer: &Rc<Peer>,
        state: &Rc<ConnectionState>,
    ) -> impl Future<Output = Result<Response<TrackedBody>, Infallible>> + use<> {
        let mut request = self.begin(request, peer, state);
        let cache = self.cache.as_ref();
        let changed = cache.and_then(|_| ChangedUrl::by(request.call()));
        let ControlFlow::Break(answer) = self.request(&mut request);
        let (mut context, steps) = (request.context, Rc::clone(self));
        async move { Ok(steps.response(answer, &mut context, changed).await) }
    }

    /// Refuses a request that no step has seen.
    pub(super) async fn refuse(
        &self,
        request: Request<ReceivedBody>,
        peer: &Rc<Peer>,
        state: &Rc<ConnectionState>,
        refusal: Refusal,
    ) -> Response<TrackedBody> {
        let mut context = self.begin(request, peer, state).context;
        let refused = RequestAnswer::Now(Err(refusal));
        self.response(refused, &mut context, None).await
    }

    /// Reads what the steps need to know, and starts the line of the access log.
    fn begin(
        &self,
        mut request: Request<ReceivedBody>,
        peer: &Rc<Peer>,
        state: &Rc<ConnectionState>,
    ) -> ArrivedRequest {
        let fields = request.headers_mut();
        let forwarded = self.proxies.receive(peer.proxy_fields, fields);
        let client = forwarded.as_ref();
        let scheme = client.and_then(|client| client.scheme);
        let client = client.and_then(|client| client.remote.as_deref());
        let client = TracedClient {
            address: client.unwrap_or_else(|| peer.logged()),
            scheme: scheme.unwrap_or(peer.scheme),
            names_parent: peer.proxy_fields != ProxyFields::Removed,
        };
        let entry = self.access_log.start(&mut request, &client);
        let encoders = self.encoders.as_ref();
        let encoding = encoders.map(|encoders| ResponseEncoding::negotiate(&request, encoders));
        let gets_page = self.files.pages.are_for(&request);
        let (closes, ranges) = (asks_to_close(&request), RangeRequest::of(&request));
        let (parts, body) = request.into_parts();
        let version = parts.version;
        let mut call = Call::new(parts, Rc::clone(peer), Rc::clone(state.memory()));
        call.forwarded = forwarded;
        if version >= Version::HTTP_11 {
            call.hints = Some(Rc::<ConnectionState>::clone(state));
        }
        let context = RequestContext {
            state: Rc::clone(state),
            dispatch: Rc::clone(&self.dispatch),
            entry,
            is_http10: version == Version::HTTP_10,
            closes,
            scheme: call.scheme(),
            cable: None,
            location: None,
            gets_page,
            ranges,
            encoding,
            spooled: None,
        };
        ArrivedRequest {
            call: Some(call),
            body,
            context,
        }
    }

    /// The steps of a request. The first one that answers it is the last.
    fn request(
        self: &Rc<Self>,
        request: &mut ArrivedRequest,
    ) -> ControlFlow<RequestAnswer, Infallible> {
        self.files.validations.check(request)?;
        self.force_tls.check(request)?;
        self.files.pages.maintenance.check(request)?;
        request.refuse_if(are_too_many_waiting(clock::now), Refusal::NoDescriptors)?;
        check_prefix(request, self.prefix.as_ref())?;
        take_body(request, &self.bodies)?;
        self.readiness.check(request)?;
        if let Some(cable) = &self.cable {
            cable.look(request)?;
        }
        let search = self.files.requested.look(request)?;
        let call = request.take_call();
        ControlFlow::Break(match search {
            None => self.forward(call),
            Some(search) => {
                RequestAnswer::Later(Rc::clone(self).forward_unless_found(search, call))
            }
        })
    }

    /// The steps behind those that may wait.
    fn forward(&self, call: Call) -> RequestAnswer {
        let call = match &self.cache {
            Some(cache) => match cache.look(call) {
                ControlFlow::Break(answer) => return answer,
                ControlFlow::Continue(call) => call,
            },
            None => call,
        };
        RequestAnswer::Now(self.dispatch.dispatch(call))
    }

    fn forward_unless_found(
        self: Rc<Self>,
        search: DiskSearch,
        call: Call,
    ) -> Later<Result<Reply, Refusal>> {
        Box::pin(async move {
            match search.await? {
                Some(found) => Ok(found),
                None => self.forward(call).reply().await,
            }
        })
    }

    /// The steps of a response.
    async fn response(
        &self,
        answer: RequestAnswer,
        context: &mut RequestContext,
        changed: Option<Box<ChangedUrl>>,
    ) -> Response<TrackedBody> {
        // In a block: what follows takes its room.
        let mut response = {
            let mut reply = answer.reply().await;
            if let (Some(cache), Some(changed)) = (&self.cache, changed) {
                cache.note_change(*changed, &reply);
            }
            poll_fn(|cx| context.state.interim.poll_written(cx)).await;
            if let Some(replaced) = self.files.named.replace(&mut reply) {
                reply = replaced.await;
            }
            let is_open = match (&self.cable, context.cable.take()) {
                (Some(cable), Some(handshake)) => {
                    Box::pin(cable.open(*handshake, &mut reply, context)).await
                }
                _ => false,
            };
            if is_open || self.takeovers.leave(&mut reply, context) {
                pending::<()>().await;
            }
            self.files.pages.explain_failure(&mut reply, context);
            cut(reply, context)
        };
        if let Some(encoded) = encode(&mut response, context) {
            response = encoded.await;
        }
        let mut response = self.files.pages.explain_refusal(response, context);
        if response.status() == StatusCode::NOT_MODIFIED {
            // RFC 9110, section 15.4.5: the client has the type with the body.
            response.headers_mut().remove(CONTENT_TYPE);
        }
        delimit(&mut response, context);
        let mut response = TrackedBody::track(response, context);
        self.force_tls.complete(&mut response, context);
        self.end.announce(&mut response, context);
        response
    }
}
