use super::time_histogram::TimeHistogram;

/// A number of a part for monitoring systems.
pub struct PartSample {
    /// The name, without the prefix `carat_`, the unit, and `_total`.
    pub name: &'static str,
    /// The sentence that explains the number.
    pub help: &'static str,
    /// The number, and whether it only grows.
    pub value: SampleValue,
}

/// The value of a sample.
pub enum SampleValue {
    /// A number that can rise and fall.
    Gauge(u64),
    /// A number of bytes that can rise and fall.
    Bytes(u64),
    /// A number that only grows since the server started.
    Counter(u64),
    /// The distribution of times since the server started.
    Times(Box<TimeHistogram>),
}

impl PartSample {
    /// A number that can rise and fall.
    pub fn gauge(name: &'static str, help: &'static str, value: u64) -> PartSample {
        let value = SampleValue::Gauge(value);
        PartSample { name, help, value }
    }

    /// A number of bytes that can rise and fall.
    pub fn bytes(name: &'static str, help: &'static str, value: u64) -> PartSample {
        let value = SampleValue::Bytes(value);
        PartSample { name, help, value }
    }

    /// A number that only grows since the server started.
    pub fn counter(name: &'static str, help: &'static str, value: u64) -> PartSample {
        let value = SampleValue::Counter(value);
        PartSample { name, help, value }
    }

    /// The distribution of times since the server started.
    pub fn times(name: &'static str, help: &'static str, times: &TimeHistogram) -> PartSample {
        let value = SampleValue::Times(Box::new(times.clone()));
        PartSample { name, help, value }
    }
}
