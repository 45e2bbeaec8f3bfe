//! The Ruby objects that live as long as the process: interned keys, constant values and a class.
//!
//! Every object here is registered with the garbage collector, which neither frees nor moves it.

use std::sync::OnceLock;

use carat_lane::with_env_key;
use carat_wire::{NAMES, code_of};
use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::{Error, Module, RClass, Ruby, Value};
use rb_sys::{VALUE, rb_gc_register_mark_object};

use crate::interpreter::text;

/// The methods whose Strings are made once; any other method is a new String each time.
const VERBS: [&str; 9] = [
    "GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT",
];

/// Interned Strings.
pub(crate) struct Roots {
    pub(crate) request_method: VALUE,
    pub(crate) request_path: VALUE,
    pub(crate) request_uri: VALUE,
    pub(crate) path_info: VALUE,
    pub(crate) query_string: VALUE,
    pub(crate) server_name: VALUE,
    pub(crate) server_port: VALUE,
    pub(crate) server_protocol: VALUE,
    pub(crate) http_version: VALUE,
    pub(crate) remote_addr: VALUE,
    pub(crate) content_length: VALUE,
    pub(crate) rack_input: VALUE,
    pub(crate) url_scheme: VALUE,
    pub(crate) https: VALUE,
    pub(crate) https_key: VALUE,
    pub(crate) part: VALUE,
    pub(crate) on: VALUE,
    /// The values of `SERVER_PROTOCOL`, the oldest version first.
    pub(crate) versions: [VALUE; 3],
    pub(crate) hijack: VALUE,
    /// The keys of the lists of callables.
    pub(crate) lists: [VALUE; 2],
    pub(crate) protocol: VALUE,
    /// The code of the header `upgrade`.
    pub(crate) upgrade: u8,
    /// The env keys of `carat_wire::NAMES`, in that order.
    headers: [VALUE; NAMES.len()],
    verbs: [VALUE; VERBS.len()],
    queue: VALUE,
}

static ROOTS: OnceLock<Roots> = OnceLock::new();

/// The roots, once `load` has run.
pub(crate) fn roots() -> &'static Roots {
    ROOTS.get().expect("`load` runs before any method exists")
}

/// Makes the roots; called once, when the extension is loaded.
pub(crate) fn load(ruby: &Ruby) -> Result<(), Error> {
    let queue: RClass = ruby.class_object().const_get("Queue")?;
    let root = |name: &str| keep(text::interned(ruby, name.as_bytes()));
    ROOTS.get_or_init(|| Roots {
        request_method: root("REQUEST_METHOD"),
        request_path: root("REQUEST_PATH"),
        request_uri: root("REQUEST_URI"),
        path_info: root("PATH_INFO"),
        query_string: root("QUERY_STRING"),
        server_name: root("SERVER_NAME"),
        server_port: root("SERVER_PORT"),
        server_protocol: root("SERVER_PROTOCOL"),
        http_version: root("HTTP_VERSION"),
        remote_addr: root("REMOTE_ADDR"),
        content_length: root("CONTENT_LENGTH"),
        rack_input: root("rack.input"),
        url_scheme: root("rack.url_scheme"),
        https: root("https"),
        https_key: root("HTTPS"),
        part: root("carat.part"),
        on: root("on"),
        versions: ["HTTP/1.0", "HTTP/1.1", "HTTP/2"].map(root),
        hijack: root("rack.hijack"),
        lists: ["rack.after_reply", "rack.response_finished"].map(root),
        protocol: root("rack.protocol"),
        upgrade: code_of("upgrade").unwrap_or_default(),
        headers: NAMES
            .map(|name| with_env_key(name.as_bytes(), |key| keep(text::interned(ruby, key)))),
        verbs: VERBS.map(root),
        queue: keep(queue.as_raw()),
    });
    Ok(())
}

impl Roots {
    /// The env key of the header with this code, which `wire` has checked.
    pub(crate) fn header(&self, code: u8) -> VALUE {
        self.headers[usize::from(code) - 1]
    }

    /// The class `Thread::Queue`.
    pub(crate) fn queue(&self, ruby: &Ruby) -> RClass {
        // SAFETY: `load` keeps this class alive.
        let class = unsafe { Value::from_raw(self.queue) };
        RClass::from_value(class).unwrap_or_else(|| ruby.class_object())
    }

    /// The String of a method.
    pub(crate) fn verb(&self, ruby: &Ruby, verb: &[u8]) -> VALUE {
        let known = VERBS.iter().position(|known| known.as_bytes() == verb);
        known.map_or_else(|| text::binary(ruby, verb), |index| self.verbs[index])
    }
}

fn keep(object: VALUE) -> VALUE {
    // SAFETY: `object` is a live object that was just made by this thread, which holds the GVL.
    unsafe { rb_gc_register_mark_object(object) };
    object
}
