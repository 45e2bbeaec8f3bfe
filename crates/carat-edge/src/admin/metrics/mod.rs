//! What a monitoring system reads: metrics, and whether the server is up. Nothing of it runs Ruby.

mod dashboard;
mod exposition;
mod gauges;
mod health;
mod listener;

pub(crate) use listener::serve_metrics;
