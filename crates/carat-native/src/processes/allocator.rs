//! The memory allocator of this process and its statistics: `Carat::Native.allocator`.
//!
//! Functions are looked up at run time, so it finds Carat's allocator, one that the user preloads, and one that Ruby
//! was linked with.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::{size_of, transmute};
use std::ptr::null_mut;

use magnus::{Error, Object, RHash, RModule, Ruby, function};

// SAFETY: that of `mallctl` in jemalloc's header; the calls say why they hold.
type Mallctl =
    unsafe extern "C" fn(*const c_char, *mut c_void, *mut usize, *mut c_void, usize) -> c_int;
// SAFETY: that of `gnu_get_libc_version` in glibc's header; it takes nothing.
type Version = unsafe extern "C" fn() -> *const c_char;
#[cfg(target_env = "gnu")]
// SAFETY: that of `mallinfo2` in glibc's header; it takes nothing.
type Mallinfo2 = unsafe extern "C" fn() -> libc::mallinfo2;

/// Allocators whose statistics are not read, each recognized by a function that only it has.
const OTHERS: [(&CStr, &str); 2] = [(c"mi_version", "mimalloc"), (c"tc_version", "tcmalloc")];

/// The statistics of an allocator, in bytes. A number that the allocator does not report is `None`.
#[derive(Default)]
struct AllocatorStats {
    /// The bytes that the process has allocated and not freed.
    allocated: Option<usize>,
    /// The bytes of the pages that hold allocated memory.
    active: Option<usize>,
    /// Pages that may be resident, those of the allocator itself included.
    resident: Option<usize>,
    /// Address space that is reserved, but whose pages have been returned to the kernel.
    retained: Option<usize>,
    /// Address space in use.
    mapped: Option<usize>,
}

/// Defines the function on `Carat::Native`.
pub(crate) fn define(native: RModule) -> Result<(), Error> {
    native.define_singleton_method("allocator", function!(allocator, 0))
}

/// Returns a Hash of the allocator's name, such as `jemalloc 5.3.0` or `glibc 2.41`, and its statistics: `allocated`,
/// `active`, `resident`, `retained`, and `mapped` in bytes, nil where it reports none.
fn allocator(ruby: &Ruby) -> Result<RHash, Error> {
    let (name, stats) = current();
    let hash = ruby.hash_new();
    hash.aset(ruby.to_symbol("name"), name)?;
    hash.aset(ruby.to_symbol("allocated"), stats.allocated)?;
    hash.aset(ruby.to_symbol("active"), stats.active)?;
    hash.aset(ruby.to_symbol("resident"), stats.resident)?;
    hash.aset(ruby.to_symbol("retained"), stats.retained)?;
    hash.aset(ruby.to_symbol("mapped"), stats.mapped)?;
    Ok(hash)
}

fn current() -> (String, AllocatorStats) {
    if let Some(jemalloc) = Jemalloc::find() {
        return (jemalloc.name(), jemalloc.stats());
    }
    let other = OTHERS.iter().find(|(symbol, _)| !look_up(symbol).is_null());
    match other {
        Some((_, name)) => ((*name).to_owned(), AllocatorStats::default()),
        None => (libc_name(), libc_stats()),
    }
}

/// The address of a function; null if no library of this process has it.
fn look_up(symbol: &CStr) -> *mut c_void {
    // SAFETY: the name ends with a zero byte, and the handle stands for the whole process.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) }
}

struct Jemalloc(Mallctl);

impl Jemalloc {
    fn find() -> Option<Jemalloc> {
        let function = look_up(c"mallctl");
        (!function.is_null()).then(|| {
            // SAFETY: a function of this name is jemalloc's, and has this signature since its version 3.
            Jemalloc(unsafe { transmute::<*mut c_void, Mallctl>(function) })
        })
    }

    /// The version without the commit.
    fn name(&self) -> String {
        let mut version: *const c_char = std::ptr::null();
        if !self.read(c"version", &mut version) || version.is_null() {
            return "jemalloc".to_owned();
        }
        // SAFETY: jemalloc gave a constant text.
        let version = unsafe { CStr::from_ptr(version) }.to_string_lossy();
        format!("jemalloc {}", version.split('-').next().unwrap_or(&version))
    }

    /// The present statistics: jemalloc reports those of its last epoch, so a new one begins.
    fn stats(&self) -> AllocatorStats {
        self.advance();
        AllocatorStats {
            allocated: self.bytes(c"stats.allocated"),
            active: self.bytes(c"stats.active"),
            resident: self.bytes(c"stats.resident"),
            retained: self.bytes(c"stats.retained"),
            mapped: self.bytes(c"stats.mapped"),
        }
    }

    fn advance(&self) {
        let mut epoch: u64 = 1;
        let new = (&raw mut epoch).cast();
        // SAFETY: an epoch is 64 bits wide, and jemalloc only reads it. After a failure, the statistics of the last
        // epoch do.
        let _ = unsafe {
            self.0(
                c"epoch".as_ptr(),
                null_mut(),
                null_mut(),
                new,
                size_of::<u64>(),
            )
        };
    }

    /// `None` if jemalloc is built without statistics.
    fn bytes(&self, name: &CStr) -> Option<usize> {
        let mut bytes = 0_usize;
        self.read(name, &mut bytes).then_some(bytes)
    }

    fn read<T: Copy>(&self, name: &CStr, value: &mut T) -> bool {
        let mut length = size_of::<T>();
        let old = std::ptr::from_mut(value).cast();
        // SAFETY: jemalloc writes `length` bytes at most, and nothing unless the length is that of the value.
        unsafe { self.0(name.as_ptr(), old, &raw mut length, null_mut(), 0) == 0 }
    }
}

fn libc_name() -> String {
    let function = look_up(c"gnu_get_libc_version");
    if function.is_null() {
        return "system".to_owned();
    }
    // SAFETY: glibc's function takes nothing and returns a constant text.
    let version = unsafe { CStr::from_ptr(transmute::<*mut c_void, Version>(function)()) };
    format!("glibc {}", version.to_string_lossy())
}

/// The statistics of glibc, which has them since 2.33.
#[cfg(target_env = "gnu")]
fn libc_stats() -> AllocatorStats {
    let function = look_up(c"mallinfo2");
    if function.is_null() {
        return AllocatorStats::default();
    }
    // SAFETY: glibc's function takes nothing and returns this structure.
    let info = unsafe { transmute::<*mut c_void, Mallinfo2>(function)() };
    AllocatorStats {
        allocated: Some(info.uordblks + info.hblkhd),
        mapped: Some(info.arena + info.hblkhd),
        ..AllocatorStats::default()
    }
}

#[cfg(not(target_env = "gnu"))]
fn libc_stats() -> AllocatorStats {
    AllocatorStats::default()
}
