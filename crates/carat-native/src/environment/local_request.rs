//! The environment of a request that no client has sent: `Carat::Native.environment`.

use carat_wire::{
    Frame, Malformed, Request, RequestBody, RequestHead, Scheme, push_header, request,
};
use magnus::{Error, Object, RHash, RModule, RString, Ruby, function};

use crate::environment::env::environment as request_environment;
use crate::environment::env_template::EnvTemplate;
use crate::interpreter::error;

const HOST: &str = "localhost";

/// Defines the function on `Carat::Native`.
pub(crate) fn define(native: RModule) -> Result<(), Error> {
    native.define_singleton_method("environment", function!(environment, 3))
}

/// The environment of a GET from this machine. `options` are the options of `Lane.new`, `target` is a path with an
/// optional query.
fn environment(
    ruby: &Ruby,
    options: RHash,
    target: RString,
    is_https: bool,
) -> Result<RHash, Error> {
    let template = EnvTemplate::from_options(ruby, options)?;
    let scheme = if is_https {
        Scheme::Https
    } else {
        Scheme::Http
    };
    // SAFETY: no Ruby code runs while the slice is used.
    let frame = encode(unsafe { target.as_slice() }, scheme);
    let request = decode(&frame).map_err(|malformed| error::link(ruby, malformed))?;
    request_environment(ruby, &template, &request, None, None)
}

/// The frame that the edge would send: lanes and this function build environments from the same bytes.
fn encode(target: &[u8], scheme: Scheme) -> Vec<u8> {
    let mut parts = target.splitn(2, |byte| *byte == b'?');
    let head = RequestHead {
        id: 0,
        method: b"GET",
        path: parts.next().unwrap_or_default(),
        query: parts.next().unwrap_or_default(),
        scheme,
        has_short_window: false,
        is_from_part: false,
        server_name: HOST.as_bytes(),
        server_port: scheme.default_port(),
        remote_addr: b"127.0.0.1",
        version: 11,
    };
    let mut frame = Vec::new();
    request::encode(
        &mut frame,
        &head,
        RequestBody::None,
        std::iter::empty(),
        |out| {
            push_header(out, "host", HOST.as_bytes());
            1
        },
    );
    frame
}

fn decode(frame: &[u8]) -> Result<Request<'_>, Malformed> {
    let frame = Frame::first(frame)?.ok_or(Malformed::Truncated)?;
    Request::decode(frame.payload)
}
