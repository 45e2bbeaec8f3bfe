//! Fills an environment.

use carat_lane::{DIGITS, decimal, with_env_key};
use carat_wire::{Name, Request, RequestBody, RequestHead};
use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::{RHash, Ruby, Value};
use rb_sys::{VALUE, rb_ary_new, rb_ary_push, rb_hash_aset, rb_obj_alloc};

use crate::environment::env_base::Values;
use crate::environment::env_template::EnvTemplate;
use crate::environment::hijack::HijackHandle;
use crate::environment::known_headers::KnownHeaders;
use crate::interpreter::{Roots, roots, text};

/// An environment under construction. Its methods run inside `protect` and hold nothing to drop.
pub(crate) struct EnvBuilder<'a> {
    ruby: &'a Ruby,
    roots: &'static Roots,
    template: &'a EnvTemplate,
    hash: VALUE,
}

impl<'a> EnvBuilder<'a> {
    /// `hash` is a copy of the template's base.
    pub(crate) fn new(ruby: &'a Ruby, template: &'a EnvTemplate, hash: VALUE) -> EnvBuilder<'a> {
        EnvBuilder {
            ruby,
            roots: roots(),
            template,
            hash,
        }
    }

    fn put(&self, key: VALUE, value: VALUE) {
        // SAFETY: a live Hash that nobody else has seen, and live objects; `&Ruby` proves the GVL.
        unsafe { rb_hash_aset(self.hash, key, value) };
    }

    fn put_bytes(&self, key: VALUE, bytes: &[u8]) {
        self.put(key, text::binary(self.ruby, bytes));
    }

    /// The values of `env_base::keys`, without the headers. With `slot`, the application may take over the connection
    /// of the request.
    pub(crate) fn variables(
        &self,
        head: &RequestHead<'_>,
        input: Option<Value>,
        slot: Option<Value>,
    ) -> Values {
        let mut digits = [0; DIGITS];
        let port = decimal(head.server_port.into(), &mut digits);
        let version = self.version(head);
        let mut values = Values::new([
            // SAFETY: `self.ruby` proves the GVL; the caller is inside `protect`.
            unsafe { rb_ary_new() },
            // SAFETY: as above.
            unsafe { rb_ary_new() },
            self.roots.verb(self.ruby, head.method),
            text::binary(self.ruby, self.path_info(head)),
            text::binary(self.ruby, head.path),
            text::binary(self.ruby, head.query),
            self.uri(head),
            text::binary(self.ruby, head.server_name),
            text::binary(self.ruby, port),
            text::binary(self.ruby, head.remote_addr),
            version,
            version,
            self.input(input),
        ]);
        if let Some(slot) = slot {
            values.extend(&[self.hijack(slot, head.id)]);
        }
        values
    }

    fn version(&self, head: &RequestHead<'_>) -> VALUE {
        match head.version {
            10 => self.roots.versions[0],
            20 => self.roots.versions[2],
            _ => self.roots.versions[1],
        }
    }

    fn path_info<'p>(&self, head: &RequestHead<'p>) -> &'p [u8] {
        // RFC 9112, 3.2.4: `OPTIONS *` is the request for a URI with an empty path.
        if head.path == b"*" && !self.template.asterisk {
            b""
        } else {
            self.template.path_info(head.path)
        }
    }

    /// `rack.input`: a new one for a request without a body.
    fn input(&self, input: Option<Value>) -> VALUE {
        let class = self.ruby.get_inner(self.template.empty_input).as_raw();
        // SAFETY: a live class with the default allocator; the caller is inside `protect`.
        let empty = || unsafe { rb_obj_alloc(class) };
        input.map_or_else(empty, Value::as_raw)
    }

    /// Sets the values of a request over HTTPS. The template has the values of an unencrypted one.
    pub(crate) fn put_https(&self) {
        self.put(self.roots.url_scheme, self.roots.https);
        self.put(self.roots.https_key, self.roots.on);
    }

    /// Marks a request of a part of the edge.
    pub(crate) fn put_part(&self) {
        self.put(self.roots.part, rb_sys::Qtrue.into());
    }

    fn uri(&self, head: &RequestHead<'_>) -> VALUE {
        let uri = text::binary(self.ruby, head.path);
        if !head.query.is_empty() {
            text::append(self.ruby, uri, b"?");
            text::append(self.ruby, uri, head.query);
        }
        uri
    }

    /// Sets the headers that `known` leaves out.
    pub(crate) fn put_others(&self, request: &Request<'_>, known: &KnownHeaders) {
        let mut skipped = known.values().len();
        if skipped == request.headers.len() {
            return;
        }
        for (name, value) in request.headers {
            match name {
                Name::Known(_) if skipped > 0 => skipped -= 1,
                Name::Known(code) => self.put_bytes(self.roots.header(code), value),
                Name::Literal(name) => {
                    let key = with_env_key(name, |key| text::interned(self.ruby, key));
                    self.put_bytes(key, value);
                }
            }
        }
    }

    /// Sets the known headers by key, in an environment that has none of them.
    pub(crate) fn put_known(&self, known: &KnownHeaders) {
        for (code, value) in known.shape.codes().iter().zip(known.values()) {
            self.put(self.roots.header(*code), *value);
        }
    }

    /// The object by which the application takes over the connection of request `id`.
    fn hijack(&self, slot: Value, id: u32) -> VALUE {
        let class = self.ruby.get_inner(self.template.hijack);
        // SAFETY: the Hash that was just made.
        let env = RHash::from_value(unsafe { Value::from_raw(self.hash) });
        env.map_or(rb_sys::Qnil.into(), |env| {
            let hijack = HijackHandle::new(slot, id, env);
            self.ruby.obj_wrap_as(hijack, class).as_raw()
        })
    }

    /// Lists the protocols to which the client would switch, if it names any.
    pub(crate) fn put_protocols(&self, request: &Request<'_>) {
        let upgrade = Name::Known(self.roots.upgrade);
        let mut headers = request.headers.into_iter();
        let Some((_, value)) = headers.find(|(name, _)| *name == upgrade) else {
            return;
        };
        // SAFETY: the Array is new and stays on this stack; `&Ruby` proves the GVL.
        unsafe {
            let protocols = rb_ary_new();
            for protocol in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                rb_ary_push(protocols, text::binary(self.ruby, protocol));
            }
            self.put(self.roots.protocol, protocols);
        }
    }

    /// Sets the length of the body as it was received, whatever the client declared.
    pub(crate) fn put_length(&self, body: &RequestBody<'_>) {
        let length = match *body {
            RequestBody::None | RequestBody::Stream { length: None } => return,
            RequestBody::Inline(bytes) => bytes.len() as u64,
            RequestBody::File { length }
            | RequestBody::Stream {
                length: Some(length),
            } => length,
        };
        let mut digits = [0; DIGITS];
        self.put_bytes(self.roots.content_length, decimal(length, &mut digits));
    }
}
