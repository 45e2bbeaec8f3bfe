/// Why a WebSocket is closed (RFC 6455, section 7.4): a code that may be sent.
///
/// ```
/// use carat_cable::CloseCode;
///
/// assert_eq!(CloseCode::MESSAGE_TOO_BIG.get(), 1009);
/// assert_eq!(CloseCode::received(1000), Some(CloseCode::NORMAL));
/// // 1006 stands for a connection that broke, and is never sent.
/// assert_eq!(CloseCode::received(1006), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseCode(u16);

impl CloseCode {
    /// The purpose of the connection is fulfilled.
    pub const NORMAL: CloseCode = CloseCode(1000);
    /// The server stops, or the client leaves the page.
    pub const GOING_AWAY: CloseCode = CloseCode(1001);
    /// The client does not follow RFC 6455.
    pub const PROTOCOL_ERROR: CloseCode = CloseCode(1002);
    /// A message is not UTF-8.
    pub const INVALID_PAYLOAD: CloseCode = CloseCode(1007);
    /// The client does what the server does not allow.
    pub const POLICY_VIOLATION: CloseCode = CloseCode(1008);
    /// The message is over the limit.
    pub const MESSAGE_TOO_BIG: CloseCode = CloseCode(1009);
    /// The server failed.
    pub const INTERNAL_ERROR: CloseCode = CloseCode(1011);
    /// The server has too much to do.
    pub const TRY_AGAIN_LATER: CloseCode = CloseCode(1013);

    /// The code of a client's close frame. `None` unless the code is registered with IANA for close
    /// frames, or is in the range for libraries and applications (3000 to 4999).
    pub fn received(code: u16) -> Option<CloseCode> {
        let may_be_sent = matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999);
        may_be_sent.then_some(CloseCode(code))
    }

    /// The number.
    pub fn get(self) -> u16 {
        self.0
    }
}
