//! What a client writes into the fields of proxies is read without a panic, and a trusted proxy's addition to a list
//! decides whatever stands before it.
#![no_main]

use std::net::IpAddr;

use carat_fields::{ForwardedRequest, TrustedProxies};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let proxies = TrustedProxies::new(vec!["10.0.0.0/8".parse().expect("a network")]);
    ForwardedRequest::from_forwarded(data.split(|byte| *byte == b'\n'), &proxies);
    let forged = [data, b", 192.0.2.1, 10.0.0.1"].concat();
    let lines = [Some(&forged[..]); 3];
    let request = ForwardedRequest::from_x_forwarded(lines, [&forged[..]].into_iter(), &proxies);
    assert_eq!(request.address, Some(IpAddr::from([192, 0, 2, 1])));
    assert_eq!(request.proto, Some(&b"10.0.0.1"[..]));
});
