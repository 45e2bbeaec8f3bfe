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

/// Ruby 3.1 and 3.2 have a space for the buffers of young objects, of blocks with this size and alignment.
const YOUNG_BLOCK_BYTES: u64 = 32 * 1024;
const YOUNG_BYTES: u64 = 1024 * YOUNG_BLOCK_BYTES;
/// Found once.
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

/// The pages of the space, around the buffer of a new Array. The kernel may have joined it with other mappings.
fn find_young_space(ruby: &Ruby) -> Option<Range<u64>> {
    function(c"rb_ary_detransient")?;
    let array = ruby.ary_from_iter(std::iter::repeat_n(0, ELEMENTS));
    // SAFETY: a slot in use has five words.
    let buffer = unsafe { *((array.as_raw() + BUFFER_OFFSET) as *const u64) };
    let areas = BufReader::new(File::open("/proc/self/maps").ok()?).lines();
    let area = areas
        .map_while(Result::ok)
        .filter_map(|line| pages_of(&line))
        .map(|(first, end)| first * PAGE_BYTES..end * PAGE_BYTES)
        .find(|area| area.contains(&buffer))?;
    let is_block = |address: u64| area.contains(&address) && YoungBlock::at(address, &area);
    let own = buffer & !(YOUNG_BLOCK_BYTES - 1);
    let (mut first, mut end) = (own, own);
    while is_block(first - YOUNG_BLOCK_BYTES) {
        first -= YOUNG_BLOCK_BYTES;
    }
    while is_block(end) {
        end += YOUNG_BLOCK_BYTES;
    }
    (end - first == YOUNG_BYTES).then_some(first / PAGE_BYTES..end / PAGE_BYTES)
}

/// The header of a block of the space, as Ruby's `transient_heap_block_header`.
#[repr(C)]
struct YoungBlock {
    used: i16,
    last_marked: i16,
    objects: i16,
    next: u64,
}

impl YoungBlock {
    /// Whether a block begins at an address of an area.
    fn at(address: u64, area: &Range<u64>) -> bool {
        // SAFETY: the address is aligned, and within a mapping of which Ruby's heap has a part.
        let block = unsafe { &*(address as *const YoungBlock) };
        let is_used = block.used > 0 && block.objects > 0;
        let is_linked = block.next % YOUNG_BLOCK_BYTES == 0 && area.contains(&block.next);
        (is_used || (block.used == 0 && block.last_marked == -1)) && (block.next == 0 || is_linked)
    }
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
