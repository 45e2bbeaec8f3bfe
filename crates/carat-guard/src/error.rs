/// Declares every error once: its name, its status and its reason.
macro_rules! guard_errors {
    ($($name:ident = $status:literal $reason:literal,)+) => {
        /// Why the guard refuses a message. The connection is closed after any of these.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum GuardError {
            $(#[doc = $reason] $name,)+
        }

        impl GuardError {
            /// The HTTP status of the response.
            pub fn status(self) -> u16 {
                match self {
                    $(Self::$name => $status,)+
                }
            }

            /// The fault in a few words that contain nothing the client sent.
            pub fn reason(self) -> &'static str {
                match self {
                    $(Self::$name => $reason,)+
                }
            }
        }
    };
}

guard_errors! {
    BareLineEnd = 400 "CR or LF that is not part of a CRLF",
    BlankLines = 400 "too many blank lines before the request",
    RequestLine = 400 "malformed request line",
    Target = 400 "malformed request target",
    FieldName = 400 "malformed header name",
    FoldedLine = 400 "folded header line",
    FieldValue = 400 "control character in a header value",
    FieldPadding = 400 "space around a header value, or a control character in it",
    ConnectionField = 400 "header field of an HTTP/1.1 connection",
    AuthorityMismatch = 400 "Host differs from :authority",
    MissingHost = 400 "missing Host",
    RepeatedHost = 400 "more than one Host",
    InvalidHost = 400 "malformed Host",
    RepeatedLength = 400 "more than one Content-Length",
    InvalidLength = 400 "malformed Content-Length",
    LengthBesideCoding = 400 "Content-Length beside Transfer-Encoding",
    RepeatedCoding = 400 "more than one Transfer-Encoding",
    InvalidCoding = 400 "malformed Transfer-Encoding, or chunked is not its last",
    CodingInHttp10 = 400 "Transfer-Encoding in HTTP/1.0",
    ChunkSize = 400 "malformed chunk size",
    ChunkExtension = 400 "malformed chunk extension",
    ChunkExtensionsTooLarge = 400 "chunk extensions are too large",
    ChunkEnd = 400 "chunk does not end with CRLF",
    UriTooLong = 414 "request target is too long",
    HeaderTooLarge = 431 "header is too large",
    TooManyHeaders = 431 "too many headers",
    MethodTooLong = 501 "unknown method",
    Connect = 501 "CONNECT is not supported",
    UnknownCoding = 501 "unknown transfer coding",
    Version = 505 "only HTTP/1.0 and HTTP/1.1 are supported",
}
