//! The few parts of Protocol Buffers that messages of OTLP need.

/// Types of a field's value on the wire.
const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH_DELIMITED: u64 = 2;
const FIXED32: u64 = 5;

/// A message, written field by field.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProtoMessage(Vec<u8>);

impl ProtoMessage {
    /// A number or an enumeration's constant.
    pub(crate) fn number(mut self, field: u64, value: u64) -> ProtoMessage {
        self.key(field, VARINT);
        self.varint(value);
        self
    }

    pub(crate) fn fixed64(mut self, field: u64, value: u64) -> ProtoMessage {
        self.key(field, FIXED64);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Bytes or a text.
    pub(crate) fn bytes(mut self, field: u64, value: impl AsRef<[u8]>) -> ProtoMessage {
        let value = value.as_ref();
        self.key(field, LENGTH_DELIMITED);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// A message within this one, or one more of a list.
    pub(crate) fn message(self, field: u64, value: &ProtoMessage) -> ProtoMessage {
        self.bytes(field, value.encoded())
    }

    pub(crate) fn encoded(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn key(&mut self, field: u64, wire_type: u64) {
        self.varint(field << 3 | wire_type);
    }

    /// Writes a number with seven bits a byte, the lowest first. All bytes but the last have the
    /// eighth bit.
    fn varint(&mut self, mut value: u64) {
        loop {
            let [lowest, ..] = value.to_le_bytes();
            value >>= 7;
            if value == 0 {
                return self.0.push(lowest);
            }
            self.0.push(lowest | 0x80);
        }
    }
}

/// The value of a field that was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message, up to the first that is malformed.
pub(crate) struct ProtoFields<'a>(pub(crate) &'a [u8]);

impl<'a> ProtoFields<'a> {
    /// The value of a field that may be there once.
    pub(crate) fn value(message: &'a [u8], field: u64) -> Option<Value<'a>> {
        let mut fields = ProtoFields(message).filter(|(number, _)| *number == field);
        fields.next().map(|(_, value)| value)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.bytes(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn bytes(&mut self, length: u64) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(bytes)
    }
}

impl<'a> Iterator for ProtoFields<'a> {
    type Item = (u64, Value<'a>);

    fn next(&mut self) -> Option<(u64, Value<'a>)> {
        let key = self.varint()?;
        let value = match key & 7 {
            VARINT => Value::Number(self.varint()?),
            FIXED64 => Value::Number(u64::from_le_bytes(self.bytes(8)?.try_into().ok()?)),
            FIXED32 => Value::Number(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?).into()),
            LENGTH_DELIMITED => {
                let length = self.varint()?;
                Value::Bytes(self.bytes(length)?)
            }
            _ => return None,
        };
        Some((key >> 3, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the specification of the encoding.
    #[test]
    fn messages_are_as_the_specification_shows() {
        let number = ProtoMessage::default().number(1, 150);
        assert_eq!(number.encoded(), b"\x08\x96\x01");
        let text = ProtoMessage::default().bytes(2, "testing");
        assert_eq!(text.encoded(), b"\x12\x07testing");
        let nested = ProtoMessage::default().message(3, &number);
        assert_eq!(nested.encoded(), b"\x1a\x03\x08\x96\x01");
    }

    #[test]
    fn what_is_written_is_read() {
        let message = ProtoMessage::default().number(1, u64::MAX).fixed64(16, 7);
        let message = message.bytes(3, [b'a'; 300]).into_bytes();
        let fields: Vec<_> = ProtoFields(&message).collect();
        let text = [b'a'; 300];
        let written = [
            (1, Value::Number(u64::MAX)),
            (16, Value::Number(7)),
            (3, Value::Bytes(&text)),
        ];
        assert_eq!(fields, written);
    }

    #[test]
    fn malformed_messages_end() {
        let endless = [0xff; 64];
        for malformed in [
            &b"\x08"[..],
            b"\x12\x07test",
            b"\x09\x01",
            b"\x0b",
            &endless,
        ] {
            assert_eq!(ProtoFields(malformed).next(), None);
        }
    }
}
