//! Autobahn's cases 9 (limits), and the memory that a reader holds.

use super::*;

#[test]
fn an_idle_reader_is_small_and_owns_no_memory() {
    assert_eq!(size_of::<FrameReader>(), 48);
    let mut reader = FrameReader::new(LIMIT);
    let frames = [
        frame(TEXT, b"a"),
        frame(FIN | PING, b"b"),
        frame(FIN, b"c"),
        frame(FIN | PING, b"d"),
        frame(FIN | PONG, b"e"),
        frame(FIN | TEXT, b""),
        frame(FIN | TEXT, &[b'f'; 10_000]),
    ];
    assert_eq!(reader.held_bytes(), 0);
    let bytes = frames.concat();
    let mut arriving = &bytes[..];
    while let Ok(Some(event)) = reader.read(&mut arriving) {
        let is_within = event == WebSocketEvent::Ping(b"b".to_vec());
        assert_eq!(reader.held_bytes() > 0, is_within, "{event:?}");
    }
    assert_eq!(reader.held_bytes(), 0);
}

#[test]
fn a_message_is_unfinished_from_its_first_byte_to_its_last() {
    let mut reader = FrameReader::new(LIMIT);
    let frames = [frame(TEXT, b"a"), frame(FIN | PING, b""), frame(FIN, b"bc")].concat();
    for (at, byte) in frames.iter().enumerate() {
        assert_eq!(reader.is_unfinished(), at > 0, "{at}");
        assert!(reader.read(&mut &[*byte][..]).is_ok());
    }
    assert!(!reader.is_unfinished());
    assert_eq!(reader.read(&mut &frame(TEXT, &[b'a'; 1000])[..]), Ok(None));
    reader.end();
    assert_eq!((reader.is_unfinished(), reader.held_bytes()), (false, 0));
}

#[test]
fn a_reader_that_has_ended_owns_no_memory() {
    for last in [frame(FIN | CLOSE, b""), vec![0xFF]] {
        let mut reader = FrameReader::new(LIMIT);
        assert_eq!(reader.read(&mut &frame(TEXT, &[b'a'; 1000])[..]), Ok(None));
        assert!(reader.held_bytes() >= 1000);
        assert_ne!(reader.read(&mut &last[..]), Ok(None));
        assert_eq!(reader.held_bytes(), 0);
    }
}

#[test]
fn a_message_over_the_limit_is_refused_at_its_header() {
    let limit = u64::from(LIMIT);
    let whole = vec![b'a'; LIMIT as usize];
    assert_eq!(events(&[frame(FIN | TEXT, &whole)]).len(), 1);
    for length in [
        limit + 1,
        1 << 24,
        (1 << 32) - 1,
        1 << 32,
        1 << 63,
        u64::MAX,
    ] {
        let header = header(FIN | TEXT, length);
        let without_mask = header[..header.len() - MASK.len()].to_vec();
        assert_error(&[without_mask], CloseCode::MESSAGE_TOO_BIG);
    }
    let header = header(FIN | TEXT, u64::MAX);
    let (events, error) = read(FrameReader::new(u32::MAX), [&header[..]].into_iter());
    assert_eq!((events, error), (vec![], Some(CloseCode::MESSAGE_TOO_BIG)));
}

#[test]
fn fragments_over_the_limit_are_refused_at_their_header() {
    let read = |frames: &[Vec<u8>]| read(FrameReader::new(10), [&frames.concat()[..]].into_iter());
    let begun = [frame(TEXT, b"12345"), frame(CONTINUATION, b"67890")];
    let ping = WebSocketEvent::Ping(vec![0; 125]);
    let full = [&begun[..], &[frame(FIN | PING, &[0; 125]), frame(FIN, b"")]].concat();
    assert_eq!(read(&full), (vec![ping, text("1234567890")], None));
    let over = [&begun[..], &[header(CONTINUATION, 1)]].concat();
    assert_eq!(read(&over), (vec![], Some(CloseCode::MESSAGE_TOO_BIG)));
}

#[test]
fn a_message_in_many_fragments_is_seldom_moved() {
    let limit = 5000;
    let mut reader = FrameReader::new(limit);
    assert_eq!(reader.read(&mut &frame(TEXT, b"a")[..]), Ok(None));
    let mut sizes = vec![reader.held_bytes()];
    for _ in 1..limit {
        assert_eq!(reader.read(&mut &frame(CONTINUATION, b"a")[..]), Ok(None));
        sizes.push(reader.held_bytes());
    }
    assert_eq!(sizes.last(), Some(&5000));
    sizes.dedup();
    assert!(sizes.len() < 16, "{sizes:?}");
}

#[test]
fn a_reader_holds_what_has_arrived_and_not_what_is_announced() {
    let mut reader = FrameReader::new(LIMIT);
    let announced = 1_000_000;
    let found = reader.read(&mut &header(FIN | TEXT, announced)[..]);
    assert_eq!(found, Ok(None));
    assert_eq!(reader.held_bytes(), 0);
    let mut arrived = 0;
    for piece in [1, 10, 999, 4096, 100_000, 800_000, 94_893] {
        assert_eq!(reader.read(&mut &vec![0; piece][..]), Ok(None));
        arrived += piece;
        assert!(reader.held_bytes() >= arrived);
        assert!(reader.held_bytes() <= 2 * arrived, "{arrived}");
    }
    assert_eq!(reader.held_bytes() as u64, announced);
}
