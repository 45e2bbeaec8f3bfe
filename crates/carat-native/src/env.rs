//! A request as a Rack environment.

use std::os::fd::{IntoRawFd, OwnedFd};

use carat_lane::{DIGITS, decimal, with_env_key};
use carat_wire::{Name, Request, RequestBody, RequestHead, Scheme};
use magnus::rb_sys::{AsRawValue, FromRawValue, protect};
use magnus::typed_data::Obj;
use magnus::value::{Opaque, ReprValue};
use magnus::{Class, Error, RClass, RHash, RString, Ruby, TryConvert, Value, gc};
use rb_sys::{VALUE, rb_ary_new, rb_ary_push, rb_class_new_instance, rb_hash_aset};
use rustix::fs::{SeekFrom, seek};

use crate::env_base::{self, EnvBase, HIJACK, INPUT, VARIABLES};
use crate::error;
use crate::hijack::HijackHandle;
use crate::input::Input;
use crate::roots::{Roots, roots};
use crate::slot::Slot;
use crate::text;

/// What all environments of a lane have in common.
pub(crate) struct EnvTemplate {
    base: EnvBase,
    /// The path below which the application is reached: its `SCRIPT_NAME`.
    prefix: Box<[u8]>,
    /// Whether the application accepts `*` as a path; otherwise it gets an empty path.
    asterisk: bool,
    /// The class of `rack.input` for a String.
    memory_input: Opaque<RClass>,
    /// The class of `rack.input` for a descriptor.
    file_input: Opaque<RClass>,
    /// The class of the factory that Rack calls for the files of a form.
    form_files: Opaque<RClass>,
    /// The directory in which those files can be linked.
    spool_dir: Opaque<RString>,
    /// The class of `rack.input` for a body that is read while it arrives.
    stream_input: Opaque<RClass>,
    /// The class of `rack.hijack`.
    hijack: Opaque<RClass>,
    /// Whether `rack.protocol` has the protocols that the client offers.
    protocols: bool,
}

impl EnvTemplate {
    /// Reads the template from the options of `Lane.new`.
    pub(crate) fn from_options(ruby: &Ruby, options: RHash) -> Result<EnvTemplate, Error> {
        let option = |name: &str| ruby.to_symbol(name);
        let prefix = options.fetch::<_, RString>(option("prefix"))?;
        Ok(EnvTemplate {
            // SAFETY: no Ruby code runs while the slice is used.
            prefix: unsafe { prefix.as_slice() }.into(),
            base: EnvBase::new(ruby, roots(), options.fetch(option("constants"))?)?,
            asterisk: options.fetch(option("asterisk"))?,
            memory_input: options.fetch::<_, RClass>(option("memory_input"))?.into(),
            file_input: options.fetch::<_, RClass>(option("file_input"))?.into(),
            form_files: options.fetch::<_, RClass>(option("form_files"))?.into(),
            spool_dir: options.fetch::<_, RString>(option("spool_dir"))?.into(),
            stream_input: options.fetch::<_, RClass>(option("stream_input"))?.into(),
            hijack: options.fetch::<_, RClass>(option("hijack"))?.into(),
            protocols: options.fetch(option("protocols"))?,
        })
    }

    pub(crate) fn mark(&self, marker: &gc::Marker) {
        self.base.mark(marker);
        marker.mark(self.memory_input);
        marker.mark(self.file_input);
        marker.mark(self.form_files);
        marker.mark(self.spool_dir);
        marker.mark(self.stream_input);
        marker.mark(self.hijack);
    }

    /// `rack.input` for a body that travelled in memory.
    pub(crate) fn memory(&self, ruby: &Ruby, bytes: &[u8]) -> Result<Value, Error> {
        let class = ruby.get_inner(self.memory_input).as_raw();
        let input = protect(|| {
            let content = [text::binary(ruby, bytes)];
            // SAFETY: one live argument for a live class; `protect` catches what is raised.
            unsafe { rb_class_new_instance(1, content.as_ptr(), class) }
        })?;
        // SAFETY: Ruby has just returned this object.
        Ok(unsafe { Value::from_raw(input) })
    }

    /// `rack.input` for a body in a file, which the new object owns.
    pub(crate) fn file(&self, ruby: &Ruby, descriptor: OwnedFd) -> Result<Value, Error> {
        // Earlier users of the file share its position.
        seek(&descriptor, SeekFrom::Start(0)).map_err(|errno| error::link(ruby, errno))?;
        let class = ruby.get_inner(self.file_input);
        class.funcall("for_fd", (descriptor.into_raw_fd(), "rb"))
    }

    /// `rack.input` for a body that arrives while it is read. No Ruby code runs.
    pub(crate) fn stream(&self, ruby: &Ruby, input: Input) -> Value {
        let class = ruby.get_inner(self.stream_input);
        ruby.obj_wrap_as(input, class).as_value()
    }

    /// The environment of one request. With a slot, the application may take over its connection.
    pub(crate) fn env(
        &self,
        ruby: &Ruby,
        request: &Request<'_>,
        input: Value,
        slot: Option<Obj<Slot>>,
    ) -> Result<RHash, Error> {
        let class = ruby.get_inner(self.hijack);
        let env = protect(|| {
            let hash = self.base.copy(ruby, slot.is_some());
            let env = Env { ruby, hash };
            env.put_headers(roots(), request);
            env.put_length(roots(), &request.body);
            if request.head.scheme == Scheme::Https {
                env.put_https(roots());
            }
            if self.protocols {
                env.put_protocols(roots(), request);
            }
            let mut variables = env.variables(roots(), &request.head, self);
            variables[INPUT] = input.as_raw();
            let Some(slot) = slot else {
                env_base::fill(ruby, hash, &variables[..HIJACK]);
                return hash;
            };
            // SAFETY: the Hash that was just made.
            if let Some(env) = RHash::from_value(unsafe { Value::from_raw(hash) }) {
                let hijack = HijackHandle::new(slot, request.head.id, env);
                variables[HIJACK] = ruby.obj_wrap_as(hijack, class).as_raw();
            }
            // After the headers: a header named `version` must not replace HTTP_VERSION.
            env_base::fill(ruby, hash, &variables);
            hash
        })?;
        // SAFETY: Ruby has just returned this object.
        RHash::try_convert(unsafe { Value::from_raw(env) })
    }

    /// A path without the prefix. The edge passes on no other one, but a request that the server makes up may have it.
    fn path_info<'a>(&self, path: &'a [u8]) -> &'a [u8] {
        let below = path.strip_prefix(&*self.prefix);
        let below = below.filter(|below| matches!(below.first(), None | Some(b'/')));
        below.unwrap_or(path)
    }

    /// Adds the factory for the files of a form to an environment, where Rack calls it. The factory owns the files.
    pub(crate) fn add_form_files(
        &self,
        ruby: &Ruby,
        env: RHash,
        files: Vec<Option<OwnedFd>>,
    ) -> Result<Value, Error> {
        for file in files.iter().flatten() {
            seek(file, SeekFrom::Start(0)).map_err(|errno| error::link(ruby, errno))?;
        }
        let owned = |file: Option<OwnedFd>| file.map(IntoRawFd::into_raw_fd);
        let descriptors = ruby.ary_from_iter(files.into_iter().map(owned));
        let spool_dir = ruby.get_inner(self.spool_dir);
        let input: Value = env.fetch("rack.input")?;
        let files: Value =
            ruby.get_inner(self.form_files)
                .new_instance((descriptors, input, spool_dir))?;
        env.aset("rack.multipart.tempfile_factory", files)?;
        Ok(files)
    }
}

/// An environment under construction. Its methods run inside `protect` and hold nothing to drop.
struct Env<'r> {
    ruby: &'r Ruby,
    hash: VALUE,
}

impl Env<'_> {
    fn put(&self, key: VALUE, value: VALUE) {
        // SAFETY: a live Hash that nobody else has seen, and live objects; `&Ruby` proves the GVL.
        unsafe { rb_hash_aset(self.hash, key, value) };
    }

    fn put_bytes(&self, key: VALUE, bytes: &[u8]) {
        self.put(key, text::binary(self.ruby, bytes));
    }

    /// The values of `env_base::keys`, but for `rack.input` and `rack.hijack`.
    fn variables(
        &self,
        roots: &Roots,
        head: &RequestHead<'_>,
        template: &EnvTemplate,
    ) -> [VALUE; VARIABLES] {
        let version = match head.version {
            10 => roots.http_1_0,
            20 => roots.http_2,
            _ => roots.http_1_1,
        };
        // RFC 9112, 3.2.4: `OPTIONS *` is the request for a URI with an empty path.
        let path = if head.path == b"*" && !template.asterisk {
            b""
        } else {
            template.path_info(head.path)
        };
        let mut digits = [0; DIGITS];
        let port = decimal(head.server_port.into(), &mut digits);
        [
            roots.verb(self.ruby, head.method),
            text::binary(self.ruby, path),
            text::binary(self.ruby, head.path),
            text::binary(self.ruby, head.query),
            self.uri(head),
            text::binary(self.ruby, head.server_name),
            text::binary(self.ruby, port),
            text::binary(self.ruby, head.remote_addr),
            version,
            version,
            roots.nil,
            // SAFETY: `&Ruby` proves the GVL; the caller is inside `protect`.
            unsafe { rb_ary_new() },
            // SAFETY: as above.
            unsafe { rb_ary_new() },
            roots.nil,
        ]
    }

    /// The constants are those of a request in clear.
    fn put_https(&self, roots: &Roots) {
        self.put(roots.url_scheme, roots.https);
        self.put(roots.https_key, roots.on);
    }

    fn uri(&self, head: &RequestHead<'_>) -> VALUE {
        let uri = text::binary(self.ruby, head.path);
        if !head.query.is_empty() {
            text::append(self.ruby, uri, b"?");
            text::append(self.ruby, uri, head.query);
        }
        uri
    }

    fn put_headers(&self, roots: &Roots, request: &Request<'_>) {
        for (name, value) in request.headers {
            let key = match name {
                Name::Known(code) => roots.header(code),
                Name::Literal(name) => with_env_key(name, |key| text::interned(self.ruby, key)),
            };
            self.put_bytes(key, value);
        }
    }

    /// Lists the protocols to which the client would switch, if it names any.
    fn put_protocols(&self, roots: &Roots, request: &Request<'_>) {
        let upgrade = Name::Known(roots.upgrade);
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
            self.put(roots.protocol, protocols);
        }
    }

    /// Sets the length of the body as it was received, whatever the client declared.
    fn put_length(&self, roots: &Roots, body: &RequestBody<'_>) {
        let length = match *body {
            RequestBody::None | RequestBody::Stream { length: None } => return,
            RequestBody::Inline(bytes) => bytes.len() as u64,
            RequestBody::File { length }
            | RequestBody::Stream {
                length: Some(length),
            } => length,
        };
        let mut digits = [0; DIGITS];
        self.put_bytes(roots.content_length, decimal(length, &mut digits));
    }
}
