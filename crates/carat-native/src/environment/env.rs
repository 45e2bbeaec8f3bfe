//! A request as a Rack environment.

use carat_wire::{Request, Scheme};
use magnus::rb_sys::{FromRawValue, protect};
use magnus::{Error, RHash, Ruby, TryConvert, Value};

use crate::environment::env_base;
use crate::environment::env_builder::EnvBuilder;
use crate::environment::env_template::EnvTemplate;
use crate::environment::known_headers::KnownHeaders;
use crate::interpreter::roots;

/// The environment of one request. Without an input, the request has no body. With a slot, the application may take
/// over the connection of the request.
pub(crate) fn environment(
    ruby: &Ruby,
    template: &EnvTemplate,
    request: &Request<'_>,
    input: Option<Value>,
    slot: Option<Value>,
) -> Result<RHash, Error> {
    let mut missed = None;
    let env = protect(|| {
        let known = KnownHeaders::read(ruby, request.headers, slot.is_some());
        let copied = template.base.copy(ruby, &known.shape);
        let env = EnvBuilder::new(ruby, template, copied.hash);
        env.put_others(request, &known);
        let mut values = env.variables(&request.head, input, slot);
        if copied.has_headers {
            values.extend(known.values());
        } else {
            env.put_known(&known);
            missed = Some(known.shape);
        }
        // After other headers: one named `version` must not replace HTTP_VERSION.
        env_base::fill(ruby, copied.hash, &values);
        env.put_length(&request.body);
        if request.head.scheme == Scheme::Https {
            env.put_https();
        }
        if request.head.is_from_part {
            env.put_part();
        }
        if template.protocols && known.may_have(roots().upgrade) {
            env.put_protocols(request);
        }
        copied.hash
    })?;
    if let Some(shape) = missed {
        template.base.learn(ruby, roots(), shape)?;
    }
    // SAFETY: Ruby has just returned this object.
    RHash::try_convert(unsafe { Value::from_raw(env) })
}
