//! The pages for monitoring systems: metrics, and whether the server is up. No page runs Ruby.

mod dashboard;
mod exposition;
mod gauges;
mod health;
mod listener;

pub(crate) use listener::serve_metrics;
