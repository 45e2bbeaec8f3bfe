use serde::{Deserialize, Serialize};

use crate::sockets::SessionRecord;
use crate::{ClientIdentity, FrameReader};

/// What two edges know of a socket that passes from one to the other.
#[derive(Debug, Serialize, Deserialize)]
pub struct SocketRecord {
    /// What the client has subscribed to, and its commands that nobody has begun.
    pub session: SessionRecord,
    /// What has arrived of a message.
    pub reader: FrameReader,
    /// Who the client is.
    pub client: ClientRecord,
    /// And for the application, if the client may come back.
    pub identity: Option<ClientIdentity>,
    /// What the client has sent, and nobody has looked at.
    #[serde(skip)]
    pub received: Vec<u8>,
    /// What the client is to get before anything else. It may begin within a frame.
    #[serde(skip)]
    pub unsent: Vec<u8>,
}

/// A client, for the log and for the application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRecord {
    /// Its address.
    pub remote: String,
    /// Whether it has connected to a Unix socket.
    pub is_unix: bool,
    /// The port that it has connected to.
    pub local_port: u16,
    /// Whether it speaks TLS with a proxy before the server.
    pub is_https: bool,
}

impl SocketRecord {
    /// The record as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let head = serde_json::to_vec(self).expect("only string keys");
        let parts = [&head, &self.received, &self.unsent];
        let mut bytes = Vec::new();
        for part in parts {
            let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
            bytes.extend_from_slice(&length.to_le_bytes());
        }
        for part in parts {
            bytes.extend_from_slice(part);
        }
        bytes.extend_from_slice(&self.reader.held);
        bytes
    }

    /// Reads a record. `None` if it is none.
    pub fn decode(bytes: &[u8]) -> Option<SocketRecord> {
        let (lengths, mut rest) = bytes.split_first_chunk::<12>()?;
        let mut parts = lengths.chunks_exact(4).map(|length| {
            let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
            let (part, others) = rest.split_at_checked(length)?;
            rest = others;
            Some(part)
        });
        let mut part = || parts.next().flatten();
        let (head, received, unsent) = (part()?, part()?, part()?);
        let mut record: SocketRecord = serde_json::from_slice(head).ok()?;
        record.received = received.to_vec();
        record.unsent = unsent.to_vec();
        record.reader.held = rest.to_vec();
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::time::Instant;

    use super::*;
    use crate::{CableSession, ClientOutbox, CommandResult, Hub, WebSocketEvent};

    fn client() -> ClientRecord {
        ClientRecord {
            remote: "192.0.2.1".to_owned(),
            is_unix: false,
            local_port: 80,
            is_https: false,
        }
    }

    fn moved(session: &CableSession, reader: FrameReader) -> SocketRecord {
        let record = SocketRecord {
            session: session.record(Instant::now()),
            reader,
            client: client(),
            identity: None,
            received: b"\x81".to_vec(),
            unsent: vec![0xFF; 3],
        };
        SocketRecord::decode(&record.encode()).expect("a record")
    }

    #[test]
    fn a_socket_goes_on_where_it_was() {
        let (hub, outbox) = (Rc::<Hub>::default(), Rc::<ClientOutbox>::default());
        let opened = CommandResult {
            connection: Some("ann".into()),
            internal: Some("action_cable/1".into()),
            ..CommandResult::default()
        };
        let (mut session, _) = CableSession::open(&hub, (1, &outbox), opened);
        session.receive(r#"{"command":"subscribe","identifier":"chat"}"#);
        session.next_command().expect("a command");
        let result = br#"{"subscription":"confirmed","start":["room"],"state":"[1]"}"#;
        session.finish(CommandResult::parse(result).ok());
        session.receive(r#"{"command":"message","identifier":"chat","data":"hi"}"#);
        let mut reader = FrameReader::new(1000);
        let (mut first, mut second) = (
            &b"\x01\x83\x01\x01\x01\x01idm\x80\x82\0\0"[..],
            &b"\0\0lo"[..],
        );
        assert_eq!(reader.read(&mut first), Ok(None));

        let mut record = moved(&session, reader);
        let found = (&*record.received, &*record.unsent);
        assert_eq!(found, (&b"\x81"[..], &[0xFF; 3][..]));
        assert_eq!(record.client, client());
        let text = WebSocketEvent::Text("hello".to_owned());
        assert_eq!(record.reader.read(&mut second), Ok(Some(text)));
        let (there, outbox) = (Rc::<Hub>::default(), Rc::<ClientOutbox>::default());
        let mut resumed =
            CableSession::resume(&there, (7, &outbox), record.session, Instant::now());
        assert_eq!(resumed.held_bytes(), session.held_bytes());
        let body = resumed.next_command().expect("it waited");
        for part in [
            r#""connection":"ann""#,
            r#""state":"[1]""#,
            r#""data":"hi""#,
        ] {
            assert!(body.contains(part), "{body}");
        }
        let reached = there.broadcast("room", b"1").expect("JSON");
        assert_eq!(reached.clients, 1);
        there.broadcast("action_cable/1", br#"{"type":"disconnect"}"#);
        assert!(outbox.is_closed());
    }

    #[test]
    fn a_signed_stream_stays_unknown_to_the_application() {
        let (hub, outbox) = (Rc::<Hub>::default(), Rc::<ClientOutbox>::default());
        let (session, _) = CableSession::open(&hub, (1, &outbox), CommandResult::default());
        let mut record = moved(&session, FrameReader::new(10));
        record.session.subscribe_for_test("turbo", "shelf", true);
        let resumed = CableSession::resume(&hub, (2, &outbox), record.session, Instant::now());
        assert!(resumed.close_body().contains(r#""subscriptions":[]"#));
        assert_eq!(hub.broadcast("shelf", b"1").expect("JSON").clients, 1);
    }

    #[test]
    fn what_is_no_record_is_none() {
        let (hub, outbox) = (Rc::<Hub>::default(), Rc::<ClientOutbox>::default());
        let (session, _) = CableSession::open(&hub, (1, &outbox), CommandResult::default());
        let record = moved(&session, FrameReader::new(10)).encode();
        for end in [0, 5, 12, 40, record.len() - 1] {
            assert!(SocketRecord::decode(&record[..end]).is_none(), "{end}");
        }
    }
}
