//! The Huffman code of header blocks (RFC 7541, appendix B).

/// How many symbols have a code of each length, in bits.
const COUNTS: [u16; 31] = [
    0, 0, 0, 0, 0, 10, 26, 32, 6, 0, 5, 3, 2, 6, 2, 3, 0, 0, 0, 3, 8, 13, 26, 29, 12, 4, 15, 19,
    29, 0, 4,
];
/// The symbols in the numerical order of their codes. The last code, the end of a text, has no symbol.
const SYMBOLS: &[u8; 256] = b"\
012aceiost %-./3456789=A_bdfghlmnpru:BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz&*,;XZ!\"()?'+|#>\x00$@[\
]~^}<`{\\\xc3\xd0\x80\x82\x83\xa2\xb8\xc2\xe0\xe2\x99\xa1\xa7\xac\xb0\xb1\xb3\xd1\xd8\xd9\
\xe3\xe5\xe6\x81\x84\x85\x86\x88\x92\x9a\x9c\xa0\xa3\xa4\xa9\xaa\xad\xb2\xb5\xb9\xba\xbb\xbd\
\xbe\xc4\xc6\xe4\xe8\xe9\x01\x87\x89\x8a\x8b\x8c\x8d\x8f\x93\x95\x96\x97\x98\x9b\x9d\x9e\xa5\
\xa6\xa8\xae\xaf\xb4\xb6\xb7\xbc\xbf\xc5\xe7\xef\x09\x8e\x90\x91\x94\x9f\xab\xce\xd7\xe1\xec\
\xed\xc7\xcf\xea\xeb\xc0\xc1\xc8\xc9\xca\xcd\xd2\xd5\xda\xdb\xee\xf0\xf2\xf3\xff\xcb\xcc\xd3\
\xd4\xd6\xdd\xde\xdf\xf1\xf4\xf5\xf6\xf7\xf8\xfa\xfb\xfc\xfd\xfe\x02\x03\x04\x05\x06\x07\x08\
\x0b\x0c\x0e\x0f\x10\x11\x12\x13\x14\x15\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f\xdc\xf9\x0a\
\x0d\x16";

/// The end of a text, which is no byte.
const END: u16 = 256;

/// The bytes for which a text stands, possibly with `END` among them. The decoder refuses `END`, and wrong padding.
pub(crate) fn decode(text: &[u8]) -> impl Iterator<Item = u16> + Clone + '_ {
    let bits = text
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1));
    let mut bits = bits.map(u16::from);
    std::iter::from_fn(move || next(&mut bits))
}

/// The next symbol; `None` when the bits end before it does.
fn next(bits: &mut impl Iterator<Item = u16>) -> Option<u16> {
    // `code` counts from the first code of its length: the codes of one length are consecutive.
    let (mut code, mut before) = (0, 0);
    for count in &COUNTS[1..] {
        code = code << 1 | bits.next()?;
        if code < *count {
            let symbol = SYMBOLS.get(usize::from(before + code));
            return Some(symbol.map_or(END, |byte| u16::from(*byte)));
        }
        code -= count;
        before += count;
    }
    Some(END)
}

/// Whether a text may contain a control character or one beyond ASCII, whose codes begin with ten ones.
pub(crate) fn may_be_special(text: &[u8]) -> bool {
    let mut ones = 0;
    text.iter().any(|byte| {
        let is_long = ones + byte.leading_ones() >= 10;
        ones = if *byte == 0xff {
            ones + 8
        } else {
            byte.trailing_ones()
        };
        is_long
    })
}

/// A text in this code.
#[cfg(any(test, feature = "fixture"))]
pub fn encode(text: &[u8]) -> Vec<u8> {
    let (mut bytes, mut last, mut filled) = (Vec::new(), 0_u8, 0);
    let codes = text.iter().map(|byte| code_of(*byte));
    let bits = codes.flat_map(|(code, length)| (0..length).rev().map(move |at| code >> at & 1));
    for bit in bits {
        last = last << 1 | u8::from(bit == 1);
        filled += 1;
        if filled == 8 {
            bytes.push(last);
            (last, filled) = (0, 0);
        }
    }
    if filled > 0 {
        bytes.push(last << (8 - filled) | 0xff >> filled);
    }
    bytes
}

/// The code of a byte, and its length in bits.
#[cfg(any(test, feature = "fixture"))]
fn code_of(byte: u8) -> (u32, u32) {
    let (mut code, mut length) = (0, 0);
    let index = SYMBOLS.iter().position(|symbol| *symbol == byte);
    let mut index = u32::try_from(index.expect("every byte")).expect("a byte");
    for count in COUNTS[1..].iter().map(|count| u32::from(*count)) {
        (code, length) = (code << 1, length + 1);
        if index < count {
            break;
        }
        (code, index) = (code + count, index - count);
    }
    (code + index, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_decoded_up_to_their_padding() {
        for (code, text) in [
            (
                &b"\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"[..],
                &b"www.example.com"[..],
            ),
            (b"\x1f\xff\xf1\xff\xff\x73\xf8\xff\x3f\xe7", b"a\xc3\xa4!?|"),
            (b"\xff\xff\xff\xf3", b"\n"),
            (b"", b""),
        ] {
            let expected = text.iter().copied().map(u16::from);
            assert!(decode(code).eq(expected), "{text:?}");
            assert_eq!(encode(text), code);
            assert_eq!(
                may_be_special(code),
                text.iter().any(|it| !(32..127).contains(it))
            );
        }
        assert!(decode(b"\xff\xff\xff\xff").eq([END]));
        assert!(may_be_special(b"\x7f\xe0") && !may_be_special(b"\x7f\xc0\x1f\xef\x80"));
    }
}
