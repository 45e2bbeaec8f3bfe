/// The scheme of a request, as the client sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// The connection between the client and the first server is not encrypted.
    Http,
    /// The connection between the client and the first server is encrypted.
    Https,
}

impl Scheme {
    /// The name of the scheme in a URL.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    /// The port of a URL that names none.
    pub fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}
