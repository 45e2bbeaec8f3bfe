//! Spans of requests: the option `otlp`. The [`part()`] decides which requests have spans, and tells the application in
//! `traceparent`; a task of the server sends the spans to an `OpenTelemetry` collector by OTLP over HTTP. A collector
//! that is slow, hangs, or is gone costs spans, which are counted, and nothing else.

#![forbid(unsafe_code)]

mod collector_client;
mod exporter;
mod messages;
mod part;
mod protobuf;
mod request_span;
mod resource;
mod span_queue;
mod trace_context;
mod traced_request;
mod tracer;

pub use part::part;
