use proptest::prelude::*;

use super::*;

const V2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

fn v2(command: u8, family: u8, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len()).expect("short");
    [V2, &[command, family], &length.to_be_bytes(), payload].concat()
}

/// 192.0.2.1:4711 to 198.51.100.2:443.
const ADDRESSES: [u8; 12] = [192, 0, 2, 1, 198, 51, 100, 2, 0x12, 0x67, 0x01, 0xbb];

fn tcp(source: &str, destination: &str, is_encrypted: bool) -> Client {
    Client::Tcp {
        source: source.parse().expect("an address"),
        destination: destination.parse().expect("an address"),
        is_encrypted,
    }
}

/// The client of a header. Checks that the header is incomplete without its last byte, and that bytes behind it change
/// nothing.
fn client_of(header: &[u8]) -> Client {
    for end in 0..header.len() {
        assert_eq!(parse(&header[..end]), Ok(None), "{end}");
    }
    let parsed = parse(header).expect("well formed").expect("complete");
    assert_eq!(parsed.length, header.len());
    let found = parse(&[header, b"GET / HTTP/1.1\r\n"].concat());
    assert_eq!(found, Ok(Some(parsed)));
    parsed.client
}

fn reason_of(header: &[u8]) -> &'static str {
    parse(header).expect_err("refused").reason()
}

#[test]
fn a_line_of_version_1_names_the_client() {
    let found = client_of(b"PROXY TCP4 192.0.2.1 198.51.100.2 4711 443\r\n");
    assert_eq!(found, tcp("192.0.2.1:4711", "198.51.100.2:443", false));
    let longest = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
    let line = format!("PROXY TCP6 {longest} {longest} 65535 65535\r\n");
    let end = format!("[{longest}]:65535");
    assert_eq!(client_of(line.as_bytes()), tcp(&end, &end, false));
}

#[test]
fn a_line_of_an_unknown_client_has_any_content() {
    assert_eq!(client_of(b"PROXY UNKNOWN\r\n"), Client::Unknown);
    let found = client_of(b"PROXY UNKNOWN ffff:: what ever\r\n");
    assert_eq!(found, Client::Unknown);
}

#[test]
fn a_line_that_is_not_exactly_right_is_refused() {
    for line in [
        "PROXY TCP4 192.0.2.1 198.51.100.2 4711\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.2 4711 443 \r\n",
        "PROXY TCP4  192.0.2.1 198.51.100.2 4711 443\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.2 04711 443\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.2 +4711 443\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.2 65536 443\r\n",
        "PROXY TCP4 ::1 ::1 1 2\r\n",
        "PROXY TCP6 192.0.2.1 198.51.100.2 1 2\r\n",
        "PROXY UDP4 192.0.2.1 198.51.100.2 1 2\r\n",
        "PROXY \r\n",
    ] {
        let found = reason_of(line.as_bytes());
        assert_eq!(found, "its line is malformed", "{line}");
    }
    let endless = [b"PROXY UNKNOWN ".to_vec(), vec![b'x'; 93]].concat();
    assert_eq!(parse(&endless[..106]), Ok(None));
    assert_eq!(reason_of(&endless), "its line is too long");
    for other in [
        &b"GET / HTTP/1.1\r\n"[..],
        b"\r\nPROXY",
        b"PROXYTCP4",
        b"\x16\x03\x01",
    ] {
        assert_eq!(reason_of(other), "the connection does not begin with one");
    }
}

#[test]
fn a_header_of_version_2_names_the_client() {
    let expected = tcp("192.0.2.1:4711", "198.51.100.2:443", false);
    assert_eq!(client_of(&v2(0x21, 0x11, &ADDRESSES)), expected);
    let mut addresses = [[0; 16], [0; 16]].concat();
    addresses[15] = 1;
    addresses[31] = 2;
    addresses.extend([0, 1, 0, 2]);
    let found = client_of(&v2(0x21, 0x21, &addresses));
    assert_eq!(found, tcp("[::1]:1", "[::2]:2", false));
}

#[test]
fn a_header_of_version_2_may_say_that_the_client_used_tls() {
    let payload = |client: u8| {
        let value = [client, 0, 0, 0, 0];
        [&ADDRESSES[..], &[0x04, 0, 1, b'x'], &[0x20, 0, 5], &value].concat()
    };
    for (client, is_encrypted) in [(0, false), (1, true), (7, true), (6, false)] {
        let expected = tcp("192.0.2.1:4711", "198.51.100.2:443", is_encrypted);
        assert_eq!(client_of(&v2(0x21, 0x11, &payload(client))), expected);
    }
}

#[test]
fn a_proxy_may_connect_for_itself_or_for_a_socket_without_an_address() {
    assert_eq!(client_of(&v2(0x20, 0x00, b"")), Client::Unknown);
    assert_eq!(client_of(&v2(0x20, 0x11, &ADDRESSES)), Client::Unknown);
    assert_eq!(client_of(&v2(0x21, 0x00, b"any")), Client::Unknown);
    assert_eq!(client_of(&v2(0x21, 0x31, &[0; 216])), Client::Unknown);
}

#[test]
fn a_header_of_version_2_that_is_not_exactly_right_is_refused() {
    let found = reason_of(&v2(0x11, 0x11, &ADDRESSES));
    assert_eq!(found, "its version or command is unknown");
    let found = reason_of(&v2(0x22, 0x11, &ADDRESSES));
    assert_eq!(found, "its version or command is unknown");
    let found = reason_of(&v2(0x21, 0x11, &ADDRESSES[..11]));
    assert_eq!(found, "it is shorter than its addresses");
    for values in [&[0x04][..], &[0x04, 0, 2, 1], &[0x20, 0, 0]] {
        let payload = [&ADDRESSES[..], values].concat();
        let found = reason_of(&v2(0x21, 0x11, &payload));
        assert_eq!(found, "its values are cut off");
    }
}

#[test]
fn a_header_that_is_too_long_is_refused_before_it_arrives() {
    let fitting = v2(0x20, 0, &vec![0; PROXY_HEADER_LIMIT - 16]);
    assert_eq!(client_of(&fitting), Client::Unknown);
    let long = v2(0x20, 0, &vec![0; PROXY_HEADER_LIMIT - 15]);
    assert_eq!(reason_of(&long[..16]), "it is too long");
}

proptest! {
    #[test]
    fn every_client_of_version_1_survives(source: SocketAddr, to: u16) {
        let family = if source.is_ipv4() { "TCP4" } else { "TCP6" };
        let line = format!("PROXY {family} {0} {0} {1} {to}\r\n", source.ip(), source.port());
        let destination = SocketAddr::new(source.ip(), to);
        let Client::Tcp { source: from, destination: at, is_encrypted } = client_of(line.as_bytes()) else {
            return Err(TestCaseError::fail("a TCP client"));
        };
        prop_assert_eq!((from.ip(), from.port(), at, is_encrypted), (source.ip(), source.port(), destination, false));
    }
}
