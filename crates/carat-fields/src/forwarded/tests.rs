use super::*;

fn proxies() -> TrustedProxies {
    let networks = ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().expect("a network"));
    TrustedProxies::new(networks.to_vec())
}

fn by_list(lines: &[&str]) -> Option<String> {
    let lines = lines.iter().rev().map(|line| line.as_bytes());
    let request = ForwardedRequest::from_x_forwarded([None; 3], lines, &proxies());
    request.address.map(|address| address.to_string())
}

fn by_field<'a>(lines: &[&'a str]) -> (Option<String>, Option<&'a str>, Option<&'a str>) {
    let text = |bytes| std::str::from_utf8(bytes).expect("text");
    let lines = lines.iter().map(|line| line.as_bytes());
    let request = ForwardedRequest::from_forwarded(lines, &proxies());
    let address = request.address.map(|address| address.to_string());
    (address, request.proto.map(text), request.host.map(text))
}

#[expect(clippy::unnecessary_wraps, reason = "it is compared with an Option")]
fn address(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn the_client_is_the_last_address_that_is_no_proxy() {
    assert_eq!(by_list(&["203.0.113.9"]), address("203.0.113.9"));
    assert_eq!(by_list(&["6.6.6.6, 203.0.113.9"]), address("203.0.113.9"));
    let found = by_list(&["6.6.6.6, 203.0.113.9, 10.0.0.2, 10.0.0.1"]);
    assert_eq!(found, address("203.0.113.9"));
    let found = by_list(&["6.6.6.6", "203.0.113.9,10.1.1.1"]);
    assert_eq!(found, address("203.0.113.9"));
    assert_eq!(by_list(&["10.0.0.3, 10.0.0.2"]), address("10.0.0.3"));
    assert_eq!(by_list(&[]), None);
}

#[test]
fn an_address_may_have_a_port_or_brackets() {
    assert_eq!(by_list(&["192.0.2.1:4711"]), address("192.0.2.1"));
    assert_eq!(by_list(&["[2001:db8::1]:80"]), address("2001:db8::1"));
    assert_eq!(by_list(&["[2001:db8::1]"]), address("2001:db8::1"));
    assert_eq!(by_list(&["2001:DB8::1"]), address("2001:db8::1"));
    assert_eq!(by_list(&["::ffff:192.0.2.1"]), address("192.0.2.1"));
}

#[test]
fn nothing_counts_before_what_is_no_address() {
    let found = by_list(&["6.6.6.6, unknown, 10.0.0.2"]);
    assert_eq!(found, address("10.0.0.2"));
    for garbage in "unknown|6.6.6.6, _hidden|6.6.6.6, \u{e9}|1.2.3.4.5|[::1|unix:/x|".split('|') {
        assert_eq!(by_list(&[garbage]), None, "{garbage}");
    }
}

#[test]
fn a_proxy_on_a_socket_and_an_empty_member_do_not_end_the_search() {
    for list in [
        &["203.0.113.9, unix:"][..],
        &["203.0.113.9", "unix"],
        &["203.0.113.9, , 10.0.0.1,"],
        &["203.0.113.9", ""],
        &["6.6.6.6, 203.0.113.9, unix:,10.0.0.1"],
    ] {
        assert_eq!(by_list(list), address("203.0.113.9"), "{list:?}");
    }
    assert_eq!(by_list(&["unix:"]), None);
    for field in [
        "for=203.0.113.9, for=\"unix:\"",
        "for=203.0.113.9;proto=https, , for=10.0.0.1,",
        ",for=6.6.6.6 , for=203.0.113.9; ,; , for=unix:",
    ] {
        assert_eq!(by_field(&[field]).0, address("203.0.113.9"), "{field}");
    }
    // The proxy that wrote the last element knows no client: what stands before it may be the client's.
    assert_eq!(by_field(&["for=6.6.6.6, by=10.0.0.1"]).0, None);
}

#[test]
fn the_last_value_of_the_other_fields_counts() {
    let lines = [
        &b"http, https,"[..],
        b"evil.example,example.org, ,",
        b" 8443 ",
    ]
    .map(Some);
    let request = ForwardedRequest::from_x_forwarded(lines, std::iter::empty(), &proxies());
    let expected = [&b"https"[..], b"example.org", b"8443"].map(Some);
    assert_eq!([request.proto, request.host, request.port], expected);
}

#[test]
fn the_element_of_the_outermost_trusted_proxy_counts() {
    assert_eq!(
        by_field(&["for=192.0.2.60;proto=https;by=203.0.113.43;host=example.org"]),
        (address("192.0.2.60"), Some("https"), Some("example.org"))
    );
    assert_eq!(
        by_field(&[
            "for=6.6.6.6;proto=http;host=evil",
            "For=192.0.2.60; Proto=https, for=10.0.0.1;proto=http"
        ]),
        (address("192.0.2.60"), Some("https"), None)
    );
    let found = by_field(&["for=\"[2001:db8:cafe::17]:4711\";proto=https"]);
    assert_eq!(found, (address("2001:db8:cafe::17"), Some("https"), None));
}

#[test]
fn a_hidden_client_has_no_address_but_a_scheme() {
    let found = by_field(&["for=6.6.6.6, for=_secret;proto=https, for=10.0.0.1"]);
    assert_eq!(found, (address("10.0.0.1"), Some("https"), None));
}

#[test]
fn the_elements_of_the_nearest_proxies_are_kept() {
    let many = format!("for=6.6.6.6{}, for=192.0.2.1", ", for=10.0.0.1".repeat(40));
    assert_eq!(by_field(&[&many]).0, address("192.0.2.1"));
    let far = format!("for=192.0.2.1{}", ", for=10.0.0.1".repeat(32));
    assert_eq!(by_field(&[&far]).0, address("10.0.0.1"));
}

#[test]
fn a_field_that_leaves_a_doubt_says_nothing() {
    let texts = "for=192.0.2.1;for=192.0.2.2|for|for=|for=\"192.0.2.1|for=\"192.0.2.1\"x|\
        for=\"192\\.0.2.1\"|f r=1";
    for doubtful in texts.split('|') {
        assert_eq!(by_field(&[doubtful]), (None, None, None), "{doubtful}");
        assert_eq!(by_field(&[doubtful, "for=192.0.2.1"]), (None, None, None));
    }
}
