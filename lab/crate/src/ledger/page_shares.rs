//! `Carat::Lab::Ledger.write_pages`, `dump_pages`, and `shares`: which memory of each account a forked process shares.
//!
//! A process that is to fork writes down who has how much of each page, and forgets it: its own memory would be shared,
//! too. The forked process writes down which of its pages nobody else maps. Afterwards the two lists are compared.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;

use magnus::{Error, Object, RArray, RModule, Ruby, function};

use crate::heap::each_object;
use crate::ledger::block_map::take_blocks;
use crate::ledger::collector_blocks::settle;
use crate::ledger::recorder::recorder;

const PAGE_BYTES: u64 = 4096;
/// The entries of the page map that are read at once.
const CHUNK_BYTES: usize = 4096;
const ENTRY_BYTES: usize = 8;
/// The bits of an entry of the page map, see pagemap.rst in the kernel's documentation.
const PRESENT: u64 = 1 << 63;
const OF_FILE: u64 = 1 << 61;
const EXCLUSIVE: u64 = 1 << 56;
/// The lowest bits of an entry of a dump, which has the number of the page above them.
const DUMPED_EXCLUSIVE: u64 = 1;
const DUMPED_OF_FILE: u64 = 2;
const DUMPED_CODE: u64 = 4;
const DUMPED_BITS: u32 = 3;

/// The accounts of pages that are nobody's, of mapped files, and of the machine code of a JIT compiler.
const NOBODY: i64 = -1;
const FILES: i64 = -2;
const CODE: i64 = -3;

/// Bytes of an account in a page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PagePart {
    page: u64,
    account: u32,
    bytes: u32,
}

/// Shared and private bytes.
#[derive(Clone, Copy, Default)]
struct PageShare {
    shared: f64,
    private: f64,
}

/// Defines the functions on `Carat::Lab::Ledger`.
pub(crate) fn define(ledger: RModule) -> Result<(), Error> {
    ledger.define_singleton_method("write_pages", function!(write_pages, 1))?;
    ledger.define_singleton_method("dump_pages", function!(dump_pages, 1))?;
    ledger.define_singleton_method("shares", function!(shares, 2))
}

/// Writes to a file descriptor which accounts have how much of each page, and forgets all addresses. Call it after
/// `stop`.
fn write_pages(ruby: &Ruby, descriptor: i32) -> Result<(), Error> {
    let mut parts = Vec::new();
    if let Some(recorder) = recorder() {
        settle(recorder);
        each_object(|object, bytes| {
            add(
                &mut parts,
                object,
                bytes as u64,
                recorder.account_of(object),
            );
        });
        recorder.clear();
    }
    for (address, block) in take_blocks() {
        add(&mut parts, address, block.bytes, block.account);
    }
    parts.sort_unstable();
    with_file(ruby, descriptor, |file| {
        let mut out = BufWriter::new(file);
        for part in &parts {
            out.write_all(&part.page.to_ne_bytes())?;
            out.write_all(&part.account.to_ne_bytes())?;
            out.write_all(&part.bytes.to_ne_bytes())?;
        }
        out.flush()
    })
}

/// Writes to a file descriptor all pages that this process has, and whether another one maps them, too.
fn dump_pages(ruby: &Ruby, descriptor: i32) -> Result<(), Error> {
    with_file(ruby, descriptor, |file| {
        let map = File::open("/proc/self/pagemap")?;
        let mut out = BufWriter::new(file);
        let mut areas = BufReader::new(File::open("/proc/self/maps")?);
        let mut line = String::new();
        while areas.read_line(&mut line)? > 0 {
            if let Some((first, end)) = pages_of(&line) {
                let kind = if is_code(&line) { DUMPED_CODE } else { 0 };
                dump_area(&map, first..end, kind, &mut out)?;
            }
            line.clear();
        }
        out.flush()
    })
}

/// Compares a file of `write_pages` with one of `dump_pages`. Returns an Array for each account: its number, its shared
/// bytes, and its private bytes. The number of what belongs to no account is -1, that of mapped files -2, that of machine
/// code -3.
fn shares(ruby: &Ruby, pages: i32, dump: i32) -> Result<RArray, Error> {
    let mut parts = Vec::new();
    with_file(ruby, pages, |file| {
        parts = read_parts(file)?;
        Ok(())
    })?;
    let mut sums = ShareSums::default();
    with_file(ruby, dump, |file| {
        let mut file = BufReader::new(file);
        let mut entry = [0; ENTRY_BYTES];
        while fill(&mut file, &mut entry)? {
            sums.count(u64::from_ne_bytes(entry), &parts);
        }
        Ok(())
    })?;
    let rows = ruby.ary_new();
    for (account, share) in sums.rows() {
        rows.push((account, share.shared, share.private))?;
    }
    Ok(rows)
}

/// The sums of a dump.
#[derive(Default)]
struct ShareSums {
    accounts: Vec<PageShare>,
    nobody: PageShare,
    files: PageShare,
    code: PageShare,
}

impl ShareSums {
    fn count(&mut self, entry: u64, parts: &[PagePart]) {
        let is_private = entry & DUMPED_EXCLUSIVE != 0;
        let bytes = f64::from(u32::try_from(PAGE_BYTES).unwrap_or(0));
        if entry & DUMPED_OF_FILE != 0 {
            return self.files.add(bytes, is_private);
        }
        if entry & DUMPED_CODE != 0 {
            return self.code.add(bytes, is_private);
        }
        let owners = owners(parts, entry >> DUMPED_BITS);
        let whole: f64 = owners.iter().map(|part| f64::from(part.bytes)).sum();
        if owners.is_empty() {
            return self.nobody.add(bytes, is_private);
        }
        for part in owners {
            let index = part.account as usize;
            if self.accounts.len() <= index {
                self.accounts.resize(index + 1, PageShare::default());
            }
            self.accounts[index].add(bytes * f64::from(part.bytes) / whole, is_private);
        }
    }

    fn rows(self) -> impl Iterator<Item = (i64, PageShare)> {
        let accounts = (0_i64..).zip(self.accounts);
        accounts.chain([
            (NOBODY, self.nobody),
            (FILES, self.files),
            (CODE, self.code),
        ])
    }
}

impl PageShare {
    fn add(&mut self, bytes: f64, is_private: bool) {
        if is_private {
            self.private += bytes;
        } else {
            self.shared += bytes;
        }
    }
}

/// The parts of a page; they are sorted.
fn owners(parts: &[PagePart], page: u64) -> &[PagePart] {
    let first = parts.partition_point(|part| part.page < page);
    let end = parts.partition_point(|part| part.page <= page);
    &parts[first..end]
}

/// Notes how much of each page the bytes from this address on take.
fn add(parts: &mut Vec<PagePart>, address: u64, bytes: u64, account: u32) {
    let end = address + bytes;
    let mut from = address;
    while from < end {
        let page = from / PAGE_BYTES;
        let to = end.min((page + 1) * PAGE_BYTES);
        parts.push(PagePart {
            page,
            account,
            bytes: u32::try_from(to - from).unwrap_or(0),
        });
        from = to;
    }
}

fn read_parts(file: &File) -> io::Result<Vec<PagePart>> {
    let mut parts = Vec::new();
    let mut file = BufReader::new(file);
    let mut page = [0; 8];
    let (mut account, mut bytes) = ([0; 4], [0; 4]);
    while fill(&mut file, &mut page)? {
        file.read_exact(&mut account)?;
        file.read_exact(&mut bytes)?;
        parts.push(PagePart {
            page: u64::from_ne_bytes(page),
            account: u32::from_ne_bytes(account),
            bytes: u32::from_ne_bytes(bytes),
        });
    }
    Ok(parts)
}

/// Reads a whole entry. Returns false at the end of the file.
fn fill(file: &mut impl Read, entry: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(entry) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// The first page of a line of `/proc/self/maps`, and the one after the last.
pub(crate) fn pages_of(line: &str) -> Option<(u64, u64)> {
    let (first, end) = line.split_whitespace().next()?.split_once('-')?;
    let page = |text| u64::from_str_radix(text, 16).map(|address| address / PAGE_BYTES);
    Some((page(first).ok()?, page(end).ok()?))
}

/// Whether a line of `/proc/self/maps` is of executable memory that is no file's: `7f00-7f10 r-xp 00000000 00:00 0`.
/// Some kernels have a name for it, `[anon:...]`; `[vdso]` is the kernel's own.
fn is_code(line: &str) -> bool {
    let fields: Vec<&str> = line.split_whitespace().take(6).collect();
    let is_executable = fields.get(1).is_some_and(|rights| rights.contains('x'));
    is_executable && fields.get(5).is_none_or(|name| name.starts_with("[anon:"))
}

fn dump_area(map: &File, pages: Range<u64>, kind: u64, out: &mut impl Write) -> io::Result<()> {
    let mut chunk = [0_u8; CHUNK_BYTES];
    let mut page = pages.start;
    while page < pages.end {
        let entries = usize::try_from(pages.end - page).unwrap_or(usize::MAX);
        let wanted = entries.min(chunk.len() / ENTRY_BYTES) * ENTRY_BYTES;
        // The page map ends before pages of the kernel.
        let read = map.read_at(&mut chunk[..wanted], page * ENTRY_BYTES as u64)?;
        if read < ENTRY_BYTES {
            return Ok(());
        }
        for bytes in chunk[..read].chunks_exact(ENTRY_BYTES) {
            let entry = bytes.try_into().map_or(0, u64::from_ne_bytes);
            if entry & PRESENT != 0 {
                out.write_all(&(dumped(page, entry) | kind).to_ne_bytes())?;
            }
            page += 1;
        }
    }
    Ok(())
}

fn dumped(page: u64, entry: u64) -> u64 {
    let of_file = if entry & OF_FILE == 0 {
        0
    } else {
        DUMPED_OF_FILE
    };
    let exclusive = if entry & EXCLUSIVE == 0 {
        0
    } else {
        DUMPED_EXCLUSIVE
    };
    page << DUMPED_BITS | of_file | exclusive
}

/// Calls the function with the file of a descriptor, which stays open.
fn with_file(
    ruby: &Ruby,
    descriptor: i32,
    function: impl FnOnce(&File) -> io::Result<()>,
) -> Result<(), Error> {
    // SAFETY: the caller has opened the descriptor, and keeps it open. It is not closed here.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    function(&file).map_err(|error| Error::new(ruby.exception_io_error(), error.to_string()))
}
