//! The entries that every environment has, in a Hash that is copied for each request.

use std::ffi::c_int;
use std::ptr;

use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::value::{Opaque, ReprValue};
use magnus::{Error, RHash, Ruby, Value, gc};
use rb_sys::{VALUE, rb_hash_dup, rb_hash_tbl, rb_st_foreach_with_replace, st_data_t, st_retval};

use crate::roots::Roots;

/// How many entries differ from request to request.
pub(crate) const VARIABLES: usize = 14;

/// The places of `rack.input` and `rack.hijack` among them. The latter is the last: not all requests have it.
pub(crate) const INPUT: usize = 10;
pub(crate) const HIJACK: usize = VARIABLES - 1;

/// The Hashes from which environments are copied.
///
/// The entries that differ come first, in the order of `keys`. `fill` sets them without a look at their keys: to hash and
/// compare them was a third of a worker's instructions for a small request.
pub(crate) struct EnvBase {
    /// With all variables.
    full: Opaque<RHash>,
    /// Without the last one, `rack.hijack`.
    without_hijack: Opaque<RHash>,
}

impl EnvBase {
    /// `constants` are the entries that never differ.
    pub(crate) fn new(ruby: &Ruby, roots: &Roots, constants: RHash) -> Result<EnvBase, Error> {
        let keys = keys(roots);
        let base = |keys: &[VALUE], offers_hijack: bool| {
            let base = ruby.hash_new();
            for key in keys {
                // SAFETY: the roots live as long as the process.
                base.aset(unsafe { Value::from_raw(*key) }, ruby.qnil())?;
            }
            base.update(constants)?;
            base.aset("rack.hijack?", offers_hijack)?;
            base.freeze();
            Ok::<_, Error>(base.into())
        };
        Ok(EnvBase {
            full: base(&keys, true)?,
            without_hijack: base(&keys[..HIJACK], false)?,
        })
    }

    pub(crate) fn mark(&self, marker: &gc::Marker) {
        marker.mark(self.full);
        marker.mark(self.without_hijack);
    }

    /// A new environment without the values that differ. May raise.
    pub(crate) fn copy(&self, ruby: &Ruby, offers_hijack: bool) -> VALUE {
        let base = if offers_hijack {
            self.full
        } else {
            self.without_hijack
        };
        // SAFETY: a live Hash; the caller is inside `protect`.
        unsafe { rb_hash_dup(ruby.get_inner(base).as_raw()) }
    }
}

/// The keys of the entries that differ.
fn keys(roots: &Roots) -> [VALUE; VARIABLES] {
    [
        roots.request_method,
        roots.path_info,
        roots.request_path,
        roots.query_string,
        roots.request_uri,
        roots.server_name,
        roots.server_port,
        roots.remote_addr,
        roots.server_protocol,
        roots.http_version,
        roots.rack_input,
        roots.after_reply,
        roots.response_finished,
        roots.hijack,
    ]
}

/// Values on their way into an environment.
struct Filling<'a> {
    values: std::slice::Iter<'a, VALUE>,
}

/// Sets the entries that differ to `values`, in the order of `keys`. `env` is a copy of the base: entries may have been
/// added or set since, and none removed.
pub(crate) fn fill(_: &Ruby, env: VALUE, values: &[VALUE]) {
    let mut filling = Filling {
        values: values.iter(),
    };
    let filling = ptr::from_mut(&mut filling) as st_data_t;
    // SAFETY: a live Hash that nobody else has seen. `rb_hash_tbl` gives up its write barrier, so that values may be set
    // beside it, and `values` keeps them on this stack. The two functions get back `filling`, which nobody else uses meanwhile;
    // they neither raise nor change a key.
    unsafe {
        let table = rb_hash_tbl(env, c"env_base.rs".as_ptr(), 0);
        rb_st_foreach_with_replace(table, Some(is_variable), Some(set), filling);
    }
}

/// Called for each entry: whether it is one of those that differ.
///
/// # Safety
/// `filling` is the pointer that `fill` has passed.
unsafe extern "C" fn is_variable(
    _key: st_data_t,
    _value: st_data_t,
    filling: st_data_t,
    _error: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    let filling = unsafe { &*(filling as *const Filling<'_>) };
    if filling.values.len() > 0 {
        st_retval::ST_REPLACE as c_int
    } else {
        st_retval::ST_STOP as c_int
    }
}

/// Called for an entry that differs: sets its value.
///
/// # Safety
/// As for `is_variable`; `value` is the place of the value.
unsafe extern "C" fn set(
    _key: *mut st_data_t,
    value: *mut st_data_t,
    filling: st_data_t,
    _exists: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let filling = &mut *(filling as *mut Filling<'_>);
        if let Some(next) = filling.values.next() {
            *value = *next as st_data_t;
        }
    }
    st_retval::ST_CONTINUE as c_int
}
