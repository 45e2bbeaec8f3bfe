//! Spans of requests: the option `otlp`. [`Tracer`] decides which requests have spans, and tells the application in
//! `traceparent`; [`Tracer::export`] sends the spans to an `OpenTelemetry` collector by OTLP over HTTP. A collector that is
//! slow, hangs, or is gone costs spans, which are counted, and nothing else.

#![forbid(unsafe_code)]

mod collector_client;
mod delivery;
mod exporter;
mod finished_request;
mod messages;
mod protobuf;
mod request_span;
mod resource;
mod span_queue;
mod trace_context;
mod tracer;

pub use finished_request::TracedClient;
pub use request_span::RequestSpan;
pub use tracer::Tracer;
