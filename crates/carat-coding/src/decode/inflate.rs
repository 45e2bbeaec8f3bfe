use flate2::{Decompress, FlushDecompress, Status};

use super::{DecodeError, DecodeStep};

/// The window of RFC 1951, 32 KiB.
const WINDOW_BITS: u8 = 15;

/// The memory in bytes that the decoding of a member takes, for its window and tables.
pub(super) const INFLATE_MEMORY: usize = 48 * 1024;

/// The most members of a gzip body. The number is bounded because even an empty member takes some
/// microseconds. Blocks of 64 KiB, as bgzip writes them, are 16384 members in 1 GiB.
pub const GZIP_MEMBERS_LIMIT: usize = 64 * 1024;

/// The decoder of gzip and deflate.
pub(super) struct Inflate {
    format: Format,
    /// The current member; `None` before its first byte.
    member: Option<Decompress>,
    /// Members that have begun.
    members: usize,
    /// Whether the last member has ended.
    complete: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Members, one after the other (RFC 1952 2.2).
    Gzip,
    /// A single stream of RFC 1950. Some clients send a bare stream of RFC 1951 as deflate (RFC
    /// 9110 8.4.1.2): it is decoded, too, as by browsers and other servers.
    Deflate,
}

impl Inflate {
    pub(super) fn gzip() -> Inflate {
        Inflate::new(Format::Gzip)
    }

    pub(super) fn deflate() -> Inflate {
        Inflate::new(Format::Deflate)
    }

    fn new(format: Format) -> Inflate {
        Inflate {
            format,
            member: None,
            members: 0,
            complete: false,
        }
    }

    pub(super) fn step(
        &mut self,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<DecodeStep, DecodeError> {
        let Some(&first) = input.first().filter(|_| self.member.is_none()) else {
            return self.inflate(input, output);
        };
        if self.complete && self.format == Format::Deflate {
            return Err(DecodeError::Corrupt);
        }
        if self.members == GZIP_MEMBERS_LIMIT {
            return Err(DecodeError::TooDense);
        }
        self.members += 1;
        self.complete = false;
        self.member = Some(match self.format {
            Format::Gzip => Decompress::new_gzip(WINDOW_BITS),
            Format::Deflate => Decompress::new(begins_zlib(first)),
        });
        self.inflate(input, output)
    }

    /// Whether the input may end here.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    fn inflate(&mut self, input: &[u8], output: &mut [u8]) -> Result<DecodeStep, DecodeError> {
        let Some(member) = &mut self.member else {
            return Ok(DecodeStep::default());
        };
        let (read_before, written_before) = (member.total_in(), member.total_out());
        let status = member.decompress(input, output, FlushDecompress::None);
        let status = status.map_err(|_| DecodeError::Corrupt)?;
        let read = count(member.total_in() - read_before);
        let written = count(member.total_out() - written_before);
        if status == Status::StreamEnd {
            self.member = None;
            self.complete = true;
        }
        let more = read < input.len() || (self.member.is_some() && written == output.len());
        Ok(DecodeStep {
            read,
            written,
            more,
        })
    }
}

/// Whether a stream of RFC 1950 begins with this byte: method 8, and a window of at most 32 KiB. A
/// stream of RFC 1951 that begins so is a stored block with a 1 in its padding, which no encoder
/// writes.
fn begins_zlib(first: u8) -> bool {
    first & 0x0f == 8 && first >> 4 <= 7
}

fn count(bytes: u64) -> usize {
    usize::try_from(bytes).expect("one step moves no more than its buffers hold")
}
