//! A response body that fits into one frame.

use carat_lane::BodyPieces;
use magnus::rb_sys::AsRawValue;
use magnus::{Ruby, Value};
use rb_sys::{RARRAY_LEN, RB_TYPE_P, RBasic, VALUE, rb_ary_entry, rb_cArray, ruby_value_type};

use crate::interpreter::{bytes_of, is_string};

/// The size, in bytes, of the largest body that travels in the frame of its response.
pub(crate) const INLINE_LIMIT: usize = 64 * 1024;

/// An Array of Strings, small enough for one frame.
#[derive(Clone, Copy)]
pub(crate) struct InlineBody {
    array: VALUE,
    bytes: u32,
}

impl InlineBody {
    /// The pieces of `body`, or `None` if it is anything but a small, plain Array of Strings.
    pub(crate) fn of(_: &Ruby, body: Value) -> Option<InlineBody> {
        let array = body.as_raw();
        if !is_plain_array(array) {
            return None;
        }
        let mut bytes = 0;
        for index in 0..length(array) {
            // SAFETY: `array` is a live Array; its members are live.
            let piece = unsafe { rb_ary_entry(array, index) };
            // SAFETY: `piece` is live, and a String where its bytes are asked for.
            bytes += unsafe { is_string(piece).then(|| bytes_of(piece).len()) }?;
            if bytes > INLINE_LIMIT {
                return None;
            }
        }
        let bytes = u32::try_from(bytes).expect("INLINE_LIMIT is a u32");
        Some(InlineBody { array, bytes })
    }
}

impl BodyPieces for InlineBody {
    fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The pieces of the body. No Ruby code may have run since `of`.
    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        (0..length(self.array)).map(|index| {
            // SAFETY: `of` has seen a live Array of Strings, and no Ruby code has run since.
            unsafe { bytes_of(rb_ary_entry(self.array, index)) }
        })
    }
}

/// Whether this is an Array without a class, or methods, of its own: it has no `close` and no `to_path`.
fn is_plain_array(body: VALUE) -> bool {
    // SAFETY: `body` is live, being an argument of the method that runs; an Array has an RBasic.
    unsafe {
        RB_TYPE_P(body, ruby_value_type::RUBY_T_ARRAY)
            && (*(body as *const RBasic)).klass == rb_cArray
    }
}

fn length(array: VALUE) -> i64 {
    // SAFETY: the callers have seen that this is a live Array.
    unsafe { RARRAY_LEN(array) }
}
