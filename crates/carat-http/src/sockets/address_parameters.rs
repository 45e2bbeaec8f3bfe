use carat_tls::{AcmeNames, CertificateSource, ClientAuthority, TlsFiles};

/// The parameters that may follow an address: `mode=0660&proxy_protocol=true`, `cert=FILE&key=FILE`, once or more, or
/// `certs=FOLDER`, or `acme=NAME,NAME`, and `ca=FILE&verify=optional`.
#[derive(Default)]
pub(crate) struct AddressParameters {
    pub(crate) mode: Option<u32>,
    pub(crate) proxy_protocol: bool,
    pub(crate) certificates: Option<CertificateSource>,
    pub(crate) clients: Option<ClientAuthority>,
}

impl AddressParameters {
    /// Parses the query of an address. The error is a clause.
    pub(crate) fn parse(query: &str) -> Result<AddressParameters, String> {
        let mut parameters = AddressParameters::default();
        let mut cert = None;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match (name, cert.take()) {
                ("key", Some(cert)) => parameters.add(cert, value)?,
                ("key", None) | (_, Some(_)) => return Err(UNPAIRED.to_owned()),
                ("cert", None) => cert = Some(value),
                ("certs", None) if parameters.certificates.is_none() => {
                    parameters.certificates = Some(CertificateSource::Folder(value.into()));
                }
                ("acme", None) if parameters.certificates.is_none() => {
                    let mut names = AcmeNames::default();
                    names.add(value)?;
                    parameters.certificates = Some(CertificateSource::Acme(names));
                }
                ("ca", None) if parameters.clients.is_none() => {
                    parameters.clients = Some(ClientAuthority {
                        file: value.into(),
                        is_required: true,
                    });
                }
                ("verify", None) => {
                    let clients = parameters.clients.as_mut().ok_or(UNVERIFIED)?;
                    clients.is_required = match value {
                        "required" => true,
                        "optional" => false,
                        _ => return Err(UNVERIFIED.to_owned()),
                    };
                }
                ("mode", None) => {
                    let mode = u32::from_str_radix(value, 8);
                    let mode = mode.map_err(|_| format!("{value:?} is not an octal mode"))?;
                    parameters.mode = Some(mode);
                }
                ("proxy_protocol", None) => {
                    let value = value.parse();
                    parameters.proxy_protocol =
                        value.map_err(|_| "proxy_protocol is not true or false")?;
                }
                _ => return Err(format!("{pair:?} is not a parameter")),
            }
        }
        cert.map_or(Ok(parameters), |_| Err(UNPAIRED.to_owned()))
    }

    fn add(&mut self, cert: &str, key: &str) -> Result<(), String> {
        let files = TlsFiles {
            cert: cert.into(),
            key: key.into(),
        };
        let none = CertificateSource::Files(Vec::new());
        match self.certificates.get_or_insert(none) {
            CertificateSource::Files(all) => {
                all.push(files);
                Ok(())
            }
            CertificateSource::Folder(_) | CertificateSource::Acme(_) => {
                Err("has certificates of two kinds".to_owned())
            }
        }
    }
}

const UNVERIFIED: &str = "verify is required or optional, and follows ca=FILE";

const UNPAIRED: &str = "each cert=FILE must be followed by its key=FILE";
