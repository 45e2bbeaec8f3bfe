use std::fmt::Display;
use std::io;
use std::panic::PanicHookInfo;
use std::path;

use serde_json::Value;

/// The value of a log field. In a text line it is written as it displays; in a JSON line it has its type, so that a
/// string of digits stays a string.
pub trait FieldValue: Display {
    /// The value in a JSON line.
    fn json(&self) -> Value {
        Value::from(self.to_string())
    }
}

impl FieldValue for str {}
impl FieldValue for &str {}
impl FieldValue for String {}
impl FieldValue for io::Error {}
impl FieldValue for path::Display<'_> {}
impl FieldValue for PanicHookInfo<'_> {}

macro_rules! numbers {
    ($($number:ty),+) => {
        $(impl FieldValue for $number {
            fn json(&self) -> Value {
                Value::from(*self)
            }
        })+
    };
}

numbers!(i32, u16, u32, u64, usize);
