//! The libraries of the process: to which one an address belongs.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// What the loader knows of an address.
pub(crate) struct CodePlace {
    /// The path of the library.
    pub(crate) library: String,
    /// The offset in the library.
    pub(crate) offset: usize,
    /// The function that the library exports and the address is in, and whether it begins there.
    pub(crate) function: Option<(String, bool)>,
}

/// Describes an address; `None` for code that belongs to no library, such as that of a JIT compiler.
pub(crate) fn place(address: usize) -> Option<CodePlace> {
    let info = information(address)?;
    Some(CodePlace {
        library: path(text(info.dli_fname)?),
        offset: address - info.dli_fbase as usize,
        function: text(info.dli_sname).map(|name| (name, info.dli_saddr as usize == address)),
    })
}

/// The path of a library. The loader knows the program by its first argument, which is the title of a worker.
fn path(name: String) -> String {
    static PROGRAM: OnceLock<Option<String>> = OnceLock::new();
    if name.starts_with('/') {
        return name;
    }
    let program = PROGRAM.get_or_init(|| {
        let path = std::fs::read_link("/proc/self/exe").ok()?;
        path.into_os_string().into_string().ok()
    });
    program.clone().unwrap_or(name)
}

/// The addresses of the library to which an address belongs; empty when there is none.
pub(crate) fn range(address: usize) -> Range<usize> {
    let Some(info) = information(address) else {
        return 0..0;
    };
    let mut library = info.dli_fbase as usize..0;
    // SAFETY: the loader calls the function with this pointer, before it returns.
    unsafe { libc::dl_iterate_phdr(Some(extend), (&raw mut library).cast()) };
    library
}

/// The address of a function that some library of the process exports.
pub(crate) fn function(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name ends with a zero byte, and the handle stands for the whole process.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

fn information(address: usize) -> Option<libc::Dl_info> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: null_mut(),
    };
    // SAFETY: it writes the structure; the texts stay as long as the library.
    let known = unsafe { libc::dladdr(address as *const c_void, &raw mut info) } != 0;
    known.then_some(info)
}

/// Finds the end of the library that begins at the start of the range.
// SAFETY: only the loader calls it, with the pointer that `range` passes.
unsafe extern "C" fn extend(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    data: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a library, with its segments, and the pointer of `range`.
    let (info, library) = unsafe { (&*info, &mut *data.cast::<Range<usize>>()) };
    // SAFETY: the loader says how many segments there are.
    let segments =
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let ends = segments.iter().map(|segment| {
        usize::try_from(info.dlpi_addr + segment.p_vaddr + segment.p_memsz).unwrap_or(0)
    });
    let loaded = segments.iter().any(|segment| {
        let start = usize::try_from(info.dlpi_addr + segment.p_vaddr).unwrap_or(0);
        segment.p_type == libc::PT_LOAD && start == library.start
    });
    if loaded {
        library.end = ends.max().unwrap_or(0);
    }
    c_int::from(loaded)
}

fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the loader gives a text that ends with a zero byte.
    let text = unsafe { CStr::from_ptr(pointer) };
    Some(text.to_string_lossy().into_owned())
}
