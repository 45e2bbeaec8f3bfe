/// How far back in a compressed message the client of a socket can refer, in bytes, as an exponent
/// of 2 (`permessage-deflate`, RFC 7692). No message refers to earlier ones, so no socket has to
/// keep them.
///
/// ```
/// use carat_cable::DeflateWindow;
///
/// let offers = ["permessage-deflate; server_max_window_bits=10; what, permessage-deflate; client_max_window_bits"];
/// let (_, answer) = DeflateWindow::negotiate(offers).expect("the second offer");
/// assert_eq!(answer, "permessage-deflate; server_no_context_takeover; client_no_context_takeover");
/// assert_eq!(DeflateWindow::negotiate(["x-webkit-deflate-frame"]), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeflateWindow(u8);

const EXTENSION: &str = "permessage-deflate";
const SERVER_RESET: &str = "server_no_context_takeover";
const CLIENT_RESET: &str = "client_no_context_takeover";
const SERVER_WINDOW: &str = "server_max_window_bits";
const CLIENT_WINDOW: &str = "client_max_window_bits";

impl DeflateWindow {
    const LARGEST: DeflateWindow = DeflateWindow(15);

    /// The window of the first offer among these values of `Sec-WebSocket-Extensions` that the
    /// server accepts, and the value that answers the offer. An offer that is not understood is
    /// declined (section 5.1).
    pub fn negotiate<'a>(
        values: impl IntoIterator<Item = &'a str>,
    ) -> Option<(DeflateWindow, String)> {
        let mut offers = values.into_iter().flat_map(|value| value.split(','));
        offers.find_map(DeflateWindow::answer)
    }

    fn answer(offer: &str) -> Option<(DeflateWindow, String)> {
        let mut parts = offer.split(';').map(str::trim);
        if parts.next() != Some(EXTENSION) {
            return None;
        }
        let (mut known, mut asked) = (Vec::new(), None);
        for part in parts {
            let (name, value) = match part.split_once('=') {
                Some((name, value)) => (name.trim_end(), Some(unquoted(value.trim_start()))),
                None => (part, None),
            };
            let window = value.map(DeflateWindow::parse);
            match (name, window) {
                (SERVER_WINDOW, Some(Some(window))) => asked = Some(window),
                // Any window of the client will do: the inflater has the largest one.
                (CLIENT_WINDOW, None | Some(Some(_))) | (SERVER_RESET | CLIENT_RESET, None) => {}
                _ => return None,
            }
            if known.contains(&name) {
                return None;
            }
            known.push(name);
        }
        let answer = [EXTENSION, SERVER_RESET, CLIENT_RESET].join("; ");
        Some(match asked {
            // The answer must name the window (section 7.1.2.1).
            Some(window) => (window, format!("{answer}; {SERVER_WINDOW}={}", window.0)),
            None => (DeflateWindow::LARGEST, answer),
        })
    }

    fn parse(bits: &str) -> Option<DeflateWindow> {
        let bits = match bits.as_bytes() {
            [digit @ b'8'..=b'9'] => digit - b'0',
            [b'1', digit @ b'0'..=b'5'] => 10 + digit - b'0',
            _ => return None,
        };
        Some(DeflateWindow(bits))
    }

    /// Whether the window spans a message of this length.
    pub fn holds(self, bytes: usize) -> bool {
        self == DeflateWindow::LARGEST || bytes <= 1 << self.0
    }
}

fn unquoted(value: &str) -> &str {
    let quoted = value.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    quoted.unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str =
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

    fn answer(values: &[&str]) -> Option<String> {
        DeflateWindow::negotiate(values.iter().copied()).map(|(_, answer)| answer)
    }

    #[test]
    fn whatever_can_be_had_is_answered_without_windows_that_outlive_a_message() {
        for offer in [
            "permessage-deflate",
            "permessage-deflate; client_max_window_bits",
            "permessage-deflate;client_max_window_bits=8",
            "permessage-deflate ; client_max_window_bits = \"15\"",
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
            "deflate-frame, permessage-deflate",
            "permessage-bzip2; x=\"1\",permessage-deflate",
        ] {
            assert_eq!(answer(&[offer]).as_deref(), Some(PLAIN), "{offer}");
        }
        assert_eq!(
            answer(&["junk", "permessage-deflate"]).as_deref(),
            Some(PLAIN)
        );
    }

    #[test]
    fn the_window_of_the_server_is_what_the_client_asks_for() {
        for bits in 8..=15 {
            let offer = format!("permessage-deflate; server_max_window_bits={bits}");
            let (window, answer) = DeflateWindow::negotiate([&*offer]).expect("an answer");
            assert_eq!(answer, format!("{PLAIN}; server_max_window_bits={bits}"));
            assert!(window.holds(1 << bits));
            assert_eq!(window.holds((1 << bits) + 1), bits == 15);
        }
    }

    #[test]
    fn an_offer_that_is_not_understood_is_declined_and_the_next_one_is_looked_at() {
        let texts = "server_max_window_bits|server_max_window_bits=|server_max_window_bits=7|\
            server_max_window_bits=16|server_max_window_bits=08|\
            server_max_window_bits=+9|\
            server_max_window_bits=9; server_max_window_bits=9|client_max_window_bits=0|\
            client_max_window_bits=junk|client_max_window_bits; client_max_window_bits|\
            client_no_context_takeover; client_no_context_takeover|\
            server_no_context_takeover=1|client_no_context_takeover=\"\"|what||;|=";
        for parameters in texts.split('|') {
            let offer = format!("permessage-deflate; {parameters}");
            assert_eq!(answer(&[&offer]), None, "{offer}");
            let both = format!("{offer}, permessage-deflate; server_max_window_bits=9");
            let expected = format!("{PLAIN}; server_max_window_bits=9");
            assert_eq!(answer(&[&both]), Some(expected), "{both}");
        }
        for offer in "|,;,|permessage-deflat|permessage-deflate=1|PERMESSAGE-DEFLATE".split('|') {
            assert_eq!(answer(&[offer]), None, "{offer}");
        }
    }
}
