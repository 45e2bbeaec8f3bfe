//! The entries that environments have in common. They are kept in Hashes, which are copied for each request.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::ptr;

use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::value::{Opaque, ReprValue};
use magnus::{Error, RHash, Ruby, Value, gc};
use rb_sys::{VALUE, rb_hash_dup, rb_hash_tbl, rb_st_foreach_with_replace, st_data_t, st_retval};

use crate::environment::known_headers::{HeaderShape, SHAPE_LIMIT};
use crate::interpreter::Roots;

/// How many entries have a value that differs from request to request. The headers are not counted.
const VARIABLES: usize = 14;

/// The index of `rack.hijack` among the entries that differ: the last one, since not all requests have it.
const HIJACK: usize = VARIABLES - 1;

/// The largest number of entries that differ from request to request.
const ENTRIES_LIMIT: usize = VARIABLES + SHAPE_LIMIT;

/// The largest number of shapes that have a Hash of their own, which takes about 2 KB.
const SHAPES_LIMIT: usize = 8;

/// The Hashes from which environments are copied.
///
/// The entries that differ come first, in the order of `keys`, and then those of the headers. `fill` sets the values
/// without a look at the keys: hashing and comparing these took a third of a worker's instructions for a small
/// request.
pub(crate) struct EnvBase {
    /// The entries that have the same value in all requests.
    constants: Opaque<RHash>,
    /// The Hashes without headers.
    plain: [Base; 2],
    /// The Hashes of the shapes that clients repeat, the most recently used first.
    repeated: RefCell<Vec<Base>>,
    /// The last shape that came without a Hash. If the next request has the same shape, the shape gets a Hash.
    candidate: Cell<Option<HeaderShape>>,
}

/// The Hash of one shape.
#[derive(Clone, Copy)]
struct Base {
    shape: HeaderShape,
    hash: Opaque<RHash>,
}

/// A new environment, without the values that differ from request to request.
#[derive(Clone, Copy)]
pub(crate) struct CopiedEnv {
    pub(crate) hash: VALUE,
    /// Whether the Hash has the keys of the known headers.
    pub(crate) has_headers: bool,
}

impl EnvBase {
    /// `constants` are the entries that never differ.
    pub(crate) fn new(ruby: &Ruby, roots: &Roots, constants: RHash) -> Result<EnvBase, Error> {
        let plain =
            |offers_hijack| Base::new(ruby, roots, constants, HeaderShape::empty(offers_hijack));
        Ok(EnvBase {
            constants: constants.into(),
            plain: [plain(false)?, plain(true)?],
            repeated: RefCell::default(),
            candidate: Cell::default(),
        })
    }

    pub(crate) fn mark(&self, marker: &gc::Marker) {
        marker.mark(self.constants);
        for base in self.plain.iter().chain(&*self.repeated.borrow()) {
            marker.mark(base.hash);
        }
    }

    /// A new environment without the values that differ. May raise.
    pub(crate) fn copy(&self, ruby: &Ruby, shape: &HeaderShape) -> CopiedEnv {
        let repeated = self.find(shape);
        let plain = self.plain[usize::from(shape.offers_hijack)].hash;
        // SAFETY: a live Hash; the caller is inside `protect`.
        let hash = unsafe { rb_hash_dup(ruby.get_inner(repeated.unwrap_or(plain)).as_raw()) };
        CopiedEnv {
            hash,
            has_headers: repeated.is_some(),
        }
    }

    /// The Hash of a shape that was learned. Moves the Hash one place closer to the front.
    fn find(&self, shape: &HeaderShape) -> Option<Opaque<RHash>> {
        let mut repeated = self.repeated.borrow_mut();
        let index = repeated.iter().position(|base| base.shape == *shape)?;
        if index > 0 {
            repeated.swap(index - 1, index);
        }
        Some(repeated[index.saturating_sub(1)].hash)
    }

    /// Makes a Hash for a shape that has none, when it comes twice in a row: a client whose headers change each time
    /// is not worth a Hash.
    pub(crate) fn learn(
        &self,
        ruby: &Ruby,
        roots: &Roots,
        shape: HeaderShape,
    ) -> Result<(), Error> {
        let is_repeated = self.candidate.replace(Some(shape)) == Some(shape);
        if !is_repeated || !shape.is_distinct() {
            return Ok(());
        }
        let base = Base::new(ruby, roots, ruby.get_inner(self.constants), shape)?;
        let mut repeated = self.repeated.borrow_mut();
        repeated.truncate(SHAPES_LIMIT - 1);
        repeated.push(base);
        Ok(())
    }
}

impl Base {
    fn new(
        ruby: &Ruby,
        roots: &Roots,
        constants: RHash,
        shape: HeaderShape,
    ) -> Result<Base, Error> {
        let hash = ruby.hash_new();
        let variables = keys(roots);
        let variables = &variables[..HIJACK + usize::from(shape.offers_hijack)];
        let headers = shape.codes().iter().map(|code| roots.header(*code));
        for key in variables.iter().copied().chain(headers) {
            // SAFETY: the roots live as long as the process.
            hash.aset(unsafe { Value::from_raw(key) }, ruby.qnil())?;
        }
        hash.update(constants)?;
        hash.aset("rack.hijack?", shape.offers_hijack)?;
        hash.freeze();
        Ok(Base {
            shape,
            hash: hash.into(),
        })
    }
}

/// The keys of the entries that differ. The lists of callables come first: `callables.rs` looks at them there.
fn keys(roots: &Roots) -> [VALUE; VARIABLES] {
    [
        roots.lists[0],
        roots.lists[1],
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
        roots.hijack,
    ]
}

/// The values of the entries that differ, in the order of their keys. Nothing here has to be dropped.
pub(crate) struct Values {
    list: [VALUE; ENTRIES_LIMIT],
    count: usize,
}

impl Values {
    /// Begins with the values of all variables but `rack.hijack`.
    pub(crate) fn new(variables: [VALUE; HIJACK]) -> Values {
        let mut list = [0; ENTRIES_LIMIT];
        list[..HIJACK].copy_from_slice(&variables);
        Values {
            list,
            count: HIJACK,
        }
    }

    /// Appends the values of the next keys.
    pub(crate) fn extend(&mut self, values: &[VALUE]) {
        let end = self.count + values.len();
        self.list[self.count..end].copy_from_slice(values);
        self.count = end;
    }
}

/// Values on their way into an environment.
struct Filling<'a> {
    values: std::slice::Iter<'a, VALUE>,
}

/// Sets the entries that differ to `values`, in the order of `keys`. `env` is a copy of the base: entries may have been
/// added or set since, and none removed.
pub(crate) fn fill(_: &Ruby, env: VALUE, values: &Values) {
    let mut filling = Filling {
        values: values.list[..values.count].iter(),
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

/// Whether an entry is one whose value differs from request to request. Ruby calls this for each entry.
///
/// # Safety
/// `filling` is the pointer that `fill` has passed.
// SAFETY: the caller's promise, above.
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

/// Sets the value of an entry that differs from request to request. Ruby calls this for each such entry.
///
/// # Safety
/// As for `is_variable`; `value` is the place of the value.
// SAFETY: the caller's promise, above.
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
