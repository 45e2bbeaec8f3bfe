/// The most bytes of a name (RFC 1035, section 2.3.4).
const NAME_LIMIT: usize = 253;
/// The most bytes of a label in a name (RFC 1035, section 2.3.4).
const LABEL_LIMIT: usize = 63;

/// The file of a name with its certificate, the chain, and the key.
pub(super) const CERTIFICATE: &str = "certificate.pem";

/// Whether this is the name of a host: two labels or more, of letters, digits, and hyphens, since
/// it also becomes the name of a folder. An address of IPv4 is refused because its last label has
/// no letter. A wildcard is refused because it needs a proof in the DNS, which the client cannot
/// give.
pub(crate) fn is_host_name(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=LABEL_LIMIT).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    name.len() <= NAME_LIMIT
        && name.contains('.')
        && name.split('.').all(is_label)
        && last.bytes().any(|byte| byte.is_ascii_lowercase())
}
