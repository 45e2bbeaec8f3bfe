//! `Carat::Lab::Ledger.untouched_bytes` and `young_bytes`: where the kernel has given a process less memory than malloc,
//! and where more than malloc knows of.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use magnus::rb_sys::AsRawValue;
use magnus::{Error, Object, RModule, Ruby};

use crate::ledger::block_map::look_up;
use crate::ledger::page_shares::pages_of;
use crate::libraries::function;

const PAGE_BYTES: u64 = 4096;
const ENTRY_BYTES: u64 = 8;
/// The entries of the page map that are read at once.
const CHUNK_BYTES: usize = 4096;
/// The bits of an entry for a page in memory, and for one in a swap file.
const TOUCHED: u64 = 1 << 63 | 1 << 62;

/// Ruby 3.1 and 3.2 map a space of this size for the buffers of young objects.
const YOUNG_BYTES: u64 = 32 * 1024 * 1024;
/// Found once: later, the kernel may have joined it with other mappings.
static YOUNG_SPACE: OnceLock<Option<Range<u64>>> = OnceLock::new();
/// The elements of an Array with a buffer, and the word of its slot with the buffer's address.
const ELEMENTS: usize = 8;
const BUFFER_OFFSET: u64 = 4 * 8;

/// Defines the functions on `Carat::Lab::Ledger`.
pub(crate) fn define(ledger: RModule) -> Result<(), Error> {
    ledger.define_singleton_method("untouched_bytes", magnus::function!(untouched_bytes, 0))?;
    ledger.define_singleton_method("young_bytes", magnus::function!(young_bytes, 0))
}

/// Returns the bytes of pages within live blocks that nobody has written to or read: the kernel has no memory for them.
fn untouched_bytes(_ruby: &Ruby) -> u64 {
    let Ok(map) = File::open("/proc/self/pagemap") else {
        return 0;
    };
    let sums = look_up(|address, block| {
        let first = address.div_ceil(PAGE_BYTES);
        let end = (address + block.bytes) / PAGE_BYTES;
        if first < end {
            (end - first) - touched(&map, first..end)
        } else {
            0
        }
    });
    sums.into_iter().sum::<u64>() * PAGE_BYTES
}

/// Returns the bytes of Ruby's space for young buffers that have ever been used; 0 where it is not found.
fn young_bytes(ruby: &Ruby) -> u64 {
    let space = YOUNG_SPACE.get_or_init(|| find_young_space(ruby));
    match (space, File::open("/proc/self/pagemap")) {
        (Some(space), Ok(map)) => touched(&map, space.clone()) * PAGE_BYTES,
        _ => 0,
    }
}

/// The pages of the space: the mapping of this size around the buffer of a new Array.
fn find_young_space(ruby: &Ruby) -> Option<Range<u64>> {
    function(c"rb_ary_detransient")?;
    let array = ruby.ary_from_iter(std::iter::repeat_n(0, ELEMENTS));
    // SAFETY: a slot in use has five words.
    let buffer = unsafe { *((array.as_raw() + BUFFER_OFFSET) as *const u64) };
    let areas = BufReader::new(File::open("/proc/self/maps").ok()?).lines();
    areas
        .map_while(Result::ok)
        .filter_map(|line| pages_of(&line))
        .map(|(first, end)| first..end)
        .find(|pages| pages.contains(&(buffer / PAGE_BYTES)))
        .filter(|pages| (pages.end - pages.start) * PAGE_BYTES == YOUNG_BYTES)
}

/// How many of these pages the kernel has memory for. Allocates nothing.
fn touched(map: &File, pages: Range<u64>) -> u64 {
    let mut chunk = [0_u8; CHUNK_BYTES];
    let mut found = 0;
    let mut page = pages.start;
    while page < pages.end {
        let wanted = usize::try_from((pages.end - page) * ENTRY_BYTES).unwrap_or(CHUNK_BYTES);
        let part = &mut chunk[..wanted.min(CHUNK_BYTES)];
        // What cannot be read counts as touched: nothing is said about it.
        if map.read_exact_at(part, page * ENTRY_BYTES).is_err() {
            return found + (pages.end - page);
        }
        for entry in part.chunks_exact(8) {
            let entry = entry.try_into().map_or(0, u64::from_ne_bytes);
            found += u64::from(entry & TOUCHED != 0);
        }
        page += part.len() as u64 / ENTRY_BYTES;
    }
    found
}
