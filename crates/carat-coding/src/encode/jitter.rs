use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;

use crate::Coding;

/// The most bytes by which an encoded body is longer than it would be, as with Thruster: an attacker who compares lengths
/// (BREACH) needs many responses for each guess.
pub const JITTER_BYTES: usize = 32;

/// How many different lengths there are.
const LENGTHS: u64 = JITTER_BYTES as u64 + 1;

/// The bytes of a content that decide on its length. Secrets are near the beginning of a page.
const HASHED_BYTES: usize = 64 * 1024;

/// The longest header of gzip, deflate, or zstd (RFC 8878, 3.1.1.1); output up to this length may have nothing of the content.
const HEADER_BYTES: usize = 18;

/// The bytes that the header of br's metadata takes with the window's bits before it (RFC 7932, 9.1 and 9.2).
const METADATA_HEADER: usize = 3;

/// An empty stored block of deflate that begins at a byte (RFC 1951, 3.2.4).
const STORED: [u8; 5] = [0, 0, 0, 0xff, 0xff];

/// The header of an empty raw block of zstd that is not the last (RFC 8878, 3.1.1.2).
const RAW: [u8; 3] = [0, 0, 0];

/// The flag of a gzip member that has a comment, and the length of the header before it (RFC 1952, 2.3).
const COMMENT_FLAG: u8 = 0x10;
const GZIP_HEADER: usize = 10;

/// The key of the lengths, another one in each process.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Returns the length of br's metadata in a body that begins with these plain pieces.
pub(super) fn metadata_length<P: AsRef<[u8]>>(pieces: &[P]) -> usize {
    length_for(pieces).saturating_sub(METADATA_HEADER)
}

/// Makes the first output of a body longer, behind its header. br has none that ends at a byte: its encoder writes metadata.
pub(super) fn lengthen<P: AsRef<[u8]>>(coding: Coding, pieces: &[P], output: &mut Vec<u8>) {
    // The output is shorter than the pieces, so its hash costs less.
    let length = if output.len() > HEADER_BYTES {
        length_for(&[&*output])
    } else {
        length_for(pieces)
    };
    insert(coding, length, output);
}

/// Returns a number of bytes up to [`JITTER_BYTES`] that nobody without the key can foretell. The same content has the same
/// length, so to ask for it again tells nothing more.
fn length_for<P: AsRef<[u8]>>(content: &[P]) -> usize {
    let (mut hasher, mut left) = (KEY.build_hasher(), HASHED_BYTES);
    for piece in content {
        let piece = piece.as_ref();
        let counted = &piece[..piece.len().min(left)];
        hasher.write(counted);
        left -= counted.len();
    }
    usize::try_from(hasher.finish() % LENGTHS).unwrap_or_default()
}

/// Inserts up to `length` bytes that mean nothing behind the header with which `output` begins.
fn insert(coding: Coding, length: usize, output: &mut Vec<u8>) {
    match coding {
        Coding::Gzip => insert_comment(length, output),
        Coding::Deflate => insert_blocks(2, &STORED, length, output),
        Coding::Zstd => insert_blocks(zstd_header(output), &RAW, length, output),
        Coding::Brotli => {}
    }
}

fn insert_comment(length: usize, output: &mut Vec<u8>) {
    if length == 0 || output.len() < GZIP_HEADER {
        return;
    }
    let comment = (1..length).map(|_| b' ').chain([0]);
    output.splice(GZIP_HEADER..GZIP_HEADER, comment);
    output[3] |= COMMENT_FLAG;
}

fn insert_blocks(header: usize, block: &[u8], length: usize, output: &mut Vec<u8>) {
    if output.len() < header {
        return;
    }
    let blocks = block.repeat(length / block.len());
    output.splice(header..header, blocks);
}

/// Returns the length of the header of a zstd frame without a dictionary (RFC 8878, 3.1.1.1).
fn zstd_header(frame: &[u8]) -> usize {
    let Some(&descriptor) = frame.get(4) else {
        return usize::MAX;
    };
    let is_single_segment = descriptor & 0x20 != 0;
    let content_size = match descriptor >> 6 {
        0 => usize::from(is_single_segment),
        size => 1 << size,
    };
    let window = usize::from(!is_single_segment);
    5 + window + content_size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_spread_over_all_that_are_allowed_and_belong_to_their_content() {
        let mut seen = [false; JITTER_BYTES + 1];
        for number in 0..10_000_u32 {
            let content = number.to_be_bytes();
            seen[length_for(&[content])] = true;
            let (head, tail) = content.split_at(1);
            assert_eq!(length_for(&[head, tail]), length_for(&[content]));
        }
        assert_eq!(seen, [true; JITTER_BYTES + 1]);
    }

    #[test]
    fn the_header_of_a_frame_ends_where_its_blocks_begin() {
        let frames: [(&[u8], usize); 5] = [
            (&[0x28, 0xb5, 0x2f, 0xfd, 0x20, 9], 6),
            (&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58], 6),
            (&[0x28, 0xb5, 0x2f, 0xfd, 0x60, 1, 2], 7),
            (&[0x28, 0xb5, 0x2f, 0xfd, 0xa0, 1, 2, 3, 4], 9),
            (&[0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0x58], 14),
        ];
        for (frame, header) in frames {
            assert_eq!(zstd_header(frame), header, "{frame:?}");
        }
    }

    #[test]
    fn what_is_shorter_than_a_header_stays_as_it_is() {
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Zstd] {
            let mut output = vec![1];
            insert(coding, JITTER_BYTES, &mut output);
            assert_eq!(output, [1], "{coding:?}");
        }
    }
}
