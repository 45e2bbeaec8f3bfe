use std::path::Path;

use crate::messages::text;
use crate::protobuf::ProtoMessage;

/// The most attributes that are taken from `OTEL_RESOURCE_ATTRIBUTES`.
const RESOURCE_ATTRIBUTE_LIMIT: usize = 64;

/// The service whose spans these are, as `Resource`.
pub(crate) fn resource(
    directory: &Path,
    variable: impl Fn(&str) -> Option<String>,
) -> ProtoMessage {
    let attributes = attributes(directory, variable).into_iter();
    attributes.fold(ProtoMessage::default(), |all, (key, value)| {
        all.message(1, &text(&key, &value))
    })
}

/// The attributes of the service, from the variables that the SDK of the application reads, too.
/// Without them, the service has the name of the server's directory.
fn attributes(
    directory: &Path,
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let given = variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    let given = given.split(',').take(RESOURCE_ATTRIBUTE_LIMIT);
    let given = given.filter_map(|pair| pair.split_once('='));
    let mut attributes: Vec<(String, String)> = given
        .map(|(key, value)| (key.trim().to_owned(), percent_decoded(value.trim())))
        .collect();
    let name = variable("OTEL_SERVICE_NAME").filter(|name| !name.is_empty());
    if let Some(name) = name {
        attributes.retain(|(key, _)| key != "service.name");
        attributes.push(("service.name".to_owned(), name));
    }
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy().into_owned();
    let directory = directory.file_name().unwrap_or_default();
    for (key, value) in [
        ("service.name", directory.to_string_lossy().into_owned()),
        ("host.name", host),
    ] {
        if !attributes.iter().any(|(given, _)| given == key) {
            attributes.push((key.to_owned(), value));
        }
    }
    attributes
}

fn percent_decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| byte == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(byte));
        rest = if decoded.is_some() {
            &after[2..]
        } else {
            after
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value<'a>(attributes: &'a [(String, String)], key: &str) -> Option<&'a str> {
        let attribute = attributes.iter().find(|it| it.0 == key)?;
        Some(&attribute.1)
    }

    #[test]
    fn a_service_is_named_after_its_directory() {
        let attributes = attributes(Path::new("/srv/shop"), |_| None);
        assert_eq!(value(&attributes, "service.name"), Some("shop"));
        assert!(value(&attributes, "host.name").is_some());
    }

    #[test]
    fn the_variables_of_opentelemetry_count_more() {
        let attributes = attributes(Path::new("/srv/shop"), |name| {
            let given = match name {
                "OTEL_SERVICE_NAME" => "front",
                _ => "service.name=back,service.version=1%2C2,host.name=h%zz,x",
            };
            Some(given.to_owned())
        });
        assert_eq!(value(&attributes, "service.name"), Some("front"));
        assert_eq!(value(&attributes, "service.version"), Some("1,2"));
        assert_eq!(value(&attributes, "host.name"), Some("h%zz"));
        assert_eq!(attributes.len(), 3);
    }
}
