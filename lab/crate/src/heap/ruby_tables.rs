//! The hash tables of the Ruby interpreter that belong to no object: those of all Symbols and of all interned Strings,
//! and others.
//!
//! They double when they are full. Ruby does not say where they are, but `ruby/st.h` says what a table looks like: each
//! pointer in the interpreter's own variables, and in the structure behind its only object of class `RubyVM`, is tried.

use std::collections::BTreeSet;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use magnus::rb_sys::AsRawValue;
use magnus::{Module, RClass, Ruby};
use rb_sys::macros::RTYPEDDATA_GET_DATA;
use rb_sys::{RBasic, ruby_value_type};

use crate::heap::{each_object, is, kind};
use crate::libraries;

/// The address of the structure of the virtual machine, 0 if it has not been found.
static MACHINE: OnceLock<usize> = OnceLock::new();

/// Words of an `st_table`: three small numbers and the count of rebuilds, its type, the number of entries, the bins, the
/// bounds of the entries, and the entries.
const TABLE_WORDS: usize = 7;
/// The words that are looked at from the beginning of the virtual machine: it is smaller.
const MACHINE_WORDS: usize = 4096;
const WORD_BYTES: usize = 8;
/// An entry: its hash value, key, and value.
const ENTRY_BYTES: usize = 24;
/// The first powers of two for which a bin has 2, 4, and 8 bytes.
const BIN_POWERS: [u8; 3] = [8, 16, 32];
/// No table has more entries than two to this power.
const POWER_LIMIT: u8 = 40;

/// A table: the bytes that it has allocated, and how many of its entries are in use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RubyTable {
    pub(crate) bytes: usize,
    pub(crate) entries: usize,
    pub(crate) room: usize,
}

/// Returns the tables; none when the process may not read its own memory as a file.
pub(crate) fn find(ruby: &Ruby) -> Vec<RubyTable> {
    let Some(memory) = OwnMemory::open() else {
        return Vec::new();
    };
    let library = libraries::range(rb_sys::rb_gc_count as *const () as usize);
    let mut words = BTreeSet::new();
    for variables in writable(&library) {
        words.extend(memory.read(variables.start, variables.len() / WORD_BYTES));
    }
    let machine = *MACHINE.get_or_init(|| machine(ruby).unwrap_or(0));
    words.extend(memory.read(machine, MACHINE_WORDS));
    let addresses = words
        .into_iter()
        .filter(|word| *word != 0 && word % WORD_BYTES == 0 && !library.contains(word));
    addresses
        .filter_map(|address| RubyTable::parse(&memory.read(address, TABLE_WORDS), &library))
        .collect()
}

impl RubyTable {
    /// The bytes of entries that are not in use.
    pub(crate) fn spare(&self) -> usize {
        self.bytes - self.bytes * self.entries / self.room
    }

    /// Returns `None` unless the words are a table whose type is one of the interpreter's.
    fn parse(words: &[usize], library: &Range<usize>) -> Option<RubyTable> {
        let &[head, kind, entries, bins, start, bound, array] = words else {
            return None;
        };
        let [power, bin_power, size_index, ..] = head.to_le_bytes();
        let bin_size = BIN_POWERS.iter().filter(|limit| power >= **limit).count();
        let shaped = power <= POWER_LIMIT
            && bin_power == power + 1
            && usize::from(size_index) == bin_size
            && library.contains(&kind)
            && array != 0;
        let room = if shaped { 1_usize << power } else { 0 };
        let counted = start <= bound && bound <= room && entries <= bound - start;
        // Small tables have no bins.
        let bin_bytes = if bins == 0 { 0 } else { (2 * room) << bin_size };
        (shaped && counted).then_some(RubyTable {
            bytes: room * ENTRY_BYTES + bin_bytes,
            entries,
            room,
        })
    }
}

/// The memory of this process as a file: an address that is none is an error, not the end.
struct OwnMemory(File);

impl OwnMemory {
    fn open() -> Option<OwnMemory> {
        File::open("/proc/self/mem").ok().map(OwnMemory)
    }

    /// Returns the words at an address; none when they cannot be read.
    fn read(&self, address: usize, words: usize) -> Vec<usize> {
        let mut bytes = vec![0_u8; words * WORD_BYTES];
        let Some(length) = u64::try_from(address)
            .ok()
            .and_then(|offset| self.0.read_at(&mut bytes, offset).ok())
        else {
            return Vec::new();
        };
        let whole = bytes[..length].chunks_exact(WORD_BYTES);
        whole
            .filter_map(|word| word.try_into().ok().map(usize::from_ne_bytes))
            .collect()
    }
}

/// Returns the address of what the object of class `RubyVM` wraps.
fn machine(ruby: &Ruby) -> Option<usize> {
    let class: RClass = ruby.class_object().const_get("RubyVM").ok()?;
    let mut found = None;
    each_object(|object, _| {
        // SAFETY: each object has a class.
        let own = || unsafe { (*(object as *const RBasic)).klass } == class.as_raw();
        if is(kind(object), ruby_value_type::RUBY_T_DATA) && own() {
            // SAFETY: Ruby makes the only object of this class, with a type of its own.
            found = Some(unsafe { RTYPEDDATA_GET_DATA(object) } as usize);
        }
    });
    found
}

/// The writable parts of a library's addresses.
fn writable(library: &Range<usize>) -> Vec<Range<usize>> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let ranges = maps.lines().filter_map(|line| {
        let (addresses, rest) = line.split_once(' ')?;
        let (start, end) = addresses.split_once('-')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        let end = usize::from_str_radix(end, 16).ok()?;
        rest.starts_with("rw").then_some(start..end)
    });
    ranges
        .filter(|range| range.start < library.end && library.start < range.end)
        .collect()
}
