//! A request as a Rack environment.

pub(crate) mod env;
pub(crate) mod env_base;
pub(crate) mod env_builder;
pub(crate) mod env_template;
pub(crate) mod hijack;
pub(crate) mod known_headers;
pub(crate) mod local_request;

pub(crate) use env::environment;
pub(crate) use env_template::EnvTemplate;
