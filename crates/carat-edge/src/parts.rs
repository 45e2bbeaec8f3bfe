//! The list of the parts: all that the edge knows of each is a name, and whether the settings ask for it.

#[cfg(feature = "consoles")]
mod consoles;
#[cfg(feature = "metrics")]
mod metrics;
mod surroundings;
mod transports;

pub(crate) use self::surroundings::Surroundings;
pub(crate) use self::transports::Transports;
use carat_http::{EdgeCore, Part, PartList};
use carat_settings::{Multipart, Settings};

/// A part that the settings may switch on.
struct PartEntry {
    /// The name of the cargo feature with which the part is built.
    feature: &'static str,
    is_wanted: fn(&Settings) -> bool,
    /// Makes the part if the settings ask for it. `None` in a build without it.
    make: Option<MakePart>,
}

type MakePart = fn(&EdgeCore, &Surroundings<'_>) -> Result<Option<Box<dyn Part>>, String>;

macro_rules! part {
    ($feature:literal, $is_wanted:expr, $make:expr) => {
        PartEntry {
            feature: $feature,
            is_wanted: $is_wanted,
            #[cfg(feature = $feature)]
            make: Some($make),
            #[cfg(not(feature = $feature))]
            make: None,
        }
    };
}

/// All parts in the order in which they act. Replies pass them in reverse order.
const PARTS: &[PartEntry] = &[
    part!(
        "otlp",
        |settings| settings.parts.otlp.collector.is_some(),
        |core, _| Ok(carat_telemetry::part(core))
    ),
    part!(
        "metrics",
        |settings| !settings.parts.metrics.addresses.is_empty(),
        |core, edge| Ok(metrics::part(core, edge))
    ),
    part!(
        "consoles",
        // Consoles are on by default. A build without them starts, and refuses a client that asks
        // for one.
        |_| false,
        |core, edge| Ok(Some(consoles::part(core, edge.mailbox)))
    ),
    part!(
        "reload",
        |settings| settings.parts.reload.enabled,
        |core, _| Ok(carat_watch::part(core))
    ),
    part!(
        "tls",
        |settings| settings.bind.iter().any(|it| it.starts_with("tls://")),
        |core, edge| Ok(carat_tls::part(core, &edge.transports.tls))
    ),
    part!(
        "http2",
        // HTTP/2 is on by default. A build without it starts, and speaks only HTTP/1.1.
        |_| false,
        |core, _| Ok(carat_http2::part(core))
    ),
    // `rate_limit` acts after `tls`, which answers an authority that validates a name, however
    // often it asks.
    part!(
        "rate_limit",
        |settings| settings.parts.rate_limit.limit.is_some(),
        |core, _| Ok(carat_rate_limit::part(core))
    ),
    part!(
        "cable",
        |settings| settings.parts.cable.path.is_some(),
        |core, _| Ok(carat_cable::part(core))
    ),
    part!(
        "multipart",
        |settings| settings.parts.multipart.parser == Multipart::Edge,
        |core, _| Ok(carat_multipart::part(core))
    ),
    part!(
        "codings",
        |settings| settings.parts.codings.compress || settings.parts.codings.decode_requests,
        |core, _| Ok(carat_coding::part(core))
    ),
    part!(
        "site",
        |settings| {
            let site = &settings.parts.site;
            let has_files = !site.static_files.is_empty() || !site.sendfile.is_empty();
            let has_pages = site.error_pages.is_some() || site.maintenance.is_some();
            has_files || has_pages || site.force_tls
        },
        |core, _| carat_static::part(core)
    ),
    part!(
        "cache",
        |settings| settings.parts.cache.limit.is_some(),
        |core, _| Ok(carat_cache::part(core))
    ),
];

/// Makes the parts that are switched on. An error says what a part cannot do, such as read a
/// directory.
pub(crate) fn make_parts(core: &EdgeCore, edge: &Surroundings<'_>) -> Result<PartList, String> {
    let made = PARTS.iter().filter_map(|entry| entry.make);
    let made = made.filter_map(|make| make(core, edge).transpose());
    made.collect()
}

/// Refuses settings that ask for a part that was not built in.
pub(crate) fn check_parts(settings: &Settings) -> Result<(), String> {
    missing_part(PARTS, settings).map_or(Ok(()), |name| {
        Err(format!(
            "{name}: this edge was built without it (cargo feature `{name}`)"
        ))
    })
}

fn missing_part(parts: &[PartEntry], settings: &Settings) -> Option<&'static str> {
    let missing = parts.iter().filter(|entry| entry.make.is_none());
    let mut missing = missing.filter(|entry| (entry.is_wanted)(settings));
    missing.next().map(|entry| entry.feature)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_ask_for_a_part_that_is_not_built_in_are_refused() {
        let parts = [false, true].map(|is_wanted| PartEntry {
            feature: if is_wanted { "wanted" } else { "other" },
            is_wanted: if is_wanted { |_| true } else { |_| false },
            make: None,
        });
        assert_eq!(missing_part(&parts, &Settings::plain()), Some("wanted"));
    }
}
