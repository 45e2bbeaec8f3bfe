use rustls::pki_types::CertificateDer;
use webpki::EndEntityCert;

use super::distinguished_name::distinguished_name;
use carat_exchange::ClientVariable;

/// The most bytes of a client's certificates, as text, that the application gets. Certificates beyond it are left out.
const CERTIFICATES_LIMIT: usize = 16 * 1024;

/// The names that Apache has for the certificates that follow the client's own.
const CHAIN: [&str; 4] = [
    "SSL_CLIENT_CERT_CHAIN_0",
    "SSL_CLIENT_CERT_CHAIN_1",
    "SSL_CLIENT_CERT_CHAIN_2",
    "SSL_CLIENT_CERT_CHAIN_3",
];

/// The variables by which the application learns about a client that was asked for its certificate, with the names of
/// nginx and Apache. `chain` begins with the client's own certificate, which has been verified.
pub(crate) fn client_variables(chain: Option<&[CertificateDer<'_>]>) -> Vec<ClientVariable> {
    let Some(chain) = chain.filter(|chain| !chain.is_empty()) else {
        return vec![("SSL_CLIENT_VERIFY", b"NONE".to_vec())];
    };
    let mut variables = vec![("SSL_CLIENT_VERIFY", b"SUCCESS".to_vec())];
    if let Ok(parsed) = EndEntityCert::try_from(&chain[0]) {
        for (name, der) in [
            ("SSL_CLIENT_S_DN", parsed.subject()),
            ("SSL_CLIENT_I_DN", parsed.issuer()),
        ] {
            let value = distinguished_name(der).unwrap_or_default();
            variables.push((name, value.into_bytes()));
        }
    }
    let names = ["SSL_CLIENT_CERT"].into_iter().chain(CHAIN);
    let mut room = CERTIFICATES_LIMIT;
    for (name, certificate) in names.zip(chain) {
        let text = pem(certificate);
        let Some(left) = room.checked_sub(text.len()) else {
            break;
        };
        room = left;
        variables.push((name, text));
    }
    variables
}

/// A certificate as a PEM file has it (RFC 7468).
fn pem(der: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = b"-----BEGIN CERTIFICATE-----\n".to_vec();
    for line in der.chunks(48) {
        for group in line.chunks(3) {
            let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for index in 0..4 {
                let digit = DIGITS[(bits >> (18 - 6 * index) & 63) as usize];
                text.push(if index > group.len() { b'=' } else { digit });
            }
        }
        text.push(b'\n');
    }
    text.extend_from_slice(b"-----END CERTIFICATE-----\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_has_lines_of_64_digits_and_padding() {
        let text = |der: &[u8]| String::from_utf8(pem(der)).expect("ASCII");
        let lines =
            |body: &str| format!("-----BEGIN CERTIFICATE-----\n{body}-----END CERTIFICATE-----\n");
        assert_eq!(text(b"Man"), lines("TWFu\n"));
        assert_eq!(text(b"Ma"), lines("TWE=\n"));
        assert_eq!(text(b"M"), lines("TQ==\n"));
        let zeros = format!("{}\nAAAA\n", "A".repeat(64));
        assert_eq!(text(&[0; 51]), lines(&zeros));
    }

    #[test]
    fn certificates_beyond_the_limit_are_left_out() {
        let chain = [
            CertificateDer::from(vec![0; 3000]),
            CertificateDer::from(vec![0; 3000]),
            CertificateDer::from(vec![0; 30_000]),
            CertificateDer::from(vec![0; 3]),
        ];
        let names: Vec<_> = client_variables(Some(&chain))
            .iter()
            .map(|(name, _)| *name)
            .collect();
        let expected = [
            "SSL_CLIENT_VERIFY",
            "SSL_CLIENT_CERT",
            "SSL_CLIENT_CERT_CHAIN_0",
        ];
        assert_eq!(names, expected);
        let found = client_variables(None);
        assert_eq!(found, [("SSL_CLIENT_VERIFY", b"NONE".to_vec())]);
    }
}
