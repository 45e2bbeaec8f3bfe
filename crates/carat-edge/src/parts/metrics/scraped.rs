use std::collections::BTreeMap;
use std::fmt;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use carat_http::TimeHistogram;

const MICROS: f64 = 1_000_000.0;

/// Histograms at the time of a scrape.
#[derive(Debug)]
pub(super) struct ScrapedTimes(pub(super) Vec<ScrapedClass>);

/// The times with the same labels, in seconds.
#[derive(Debug)]
pub(super) struct ScrapedClass {
    labels: Vec<(&'static str, String)>,
    sum: f64,
    buckets: Vec<(f64, u64)>,
}

impl ScrapedClass {
    #[expect(clippy::cast_precision_loss, reason = "a sum of times is rounded")]
    pub(super) fn new<'a>(
        times: &TimeHistogram,
        labels: impl IntoIterator<Item = (&'static str, &'a str)>,
    ) -> ScrapedClass {
        let labels = labels.into_iter();
        let bounds = TimeHistogram::BOUNDS.map(|micros| micros as f64 / MICROS);
        let bounds = bounds.into_iter().chain([f64::MAX]);
        ScrapedClass {
            labels: labels
                .map(|(name, value)| (name, value.to_owned()))
                .collect(),
            sum: times.micros() as f64 / MICROS,
            buckets: bounds.zip(times.counts()).collect(),
        }
    }
}

/// Registers times that have no labels.
pub(super) fn register_times(
    registry: &mut Registry,
    name: &str,
    help: &str,
    times: &TimeHistogram,
) {
    let times = ScrapedTimes(vec![ScrapedClass::new(times, [])]);
    registry.register_with_unit(name, help, Unit::Seconds, times);
}

impl EncodeMetric for ScrapedTimes {
    fn encode(&self, mut encoder: MetricEncoder) -> Result<(), fmt::Error> {
        for ScrapedClass {
            labels,
            sum,
            buckets,
        } in &self.0
        {
            let mut encoder = encoder.encode_family(labels)?;
            let count = buckets.iter().map(|(_, count)| count).sum();
            encoder.encode_histogram::<NoLabelSet>(*sum, count, buckets, None)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

/// Counts at the time of a scrape, by the value of a label.
#[derive(Debug)]
pub(super) struct ScrapedCounts(
    pub(super) &'static str,
    pub(super) BTreeMap<&'static str, u64>,
);

impl EncodeMetric for ScrapedCounts {
    fn encode(&self, mut encoder: MetricEncoder) -> Result<(), fmt::Error> {
        for (value, count) in &self.1 {
            let label = [(self.0, *value)];
            let mut encoder = encoder.encode_family(&label)?;
            encoder.encode_counter::<NoLabelSet, _, u64>(count, None)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Counter
    }
}
