/// How a connection of HTTP/2 ends.
pub(in crate::http) enum Http2End {
    /// Both sides have said what they had to say.
    Closed,
    /// This server has ended it; the client is still to read why.
    GoneAway,
    /// The client does not read.
    Stuck,
}
