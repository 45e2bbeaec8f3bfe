use std::io::{self, Write};

/// Bytes that are generated at once.
const PIECE_BYTES: usize = 64 * 1024;
const PATHS: [&str; 8] = [
    "/",
    "/orders",
    "/orders/new",
    "/items",
    "/items/search",
    "/account",
    "/cart",
    "/login",
];
const AGENTS: [&str; 4] = [
    "Mozilla/5.0 (X11; Linux x86_64)",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15)",
    "curl/8.5.0",
    "okhttp/4.12",
];

/// JSON lines such as a log shipper sends, the same in every run.
pub(crate) struct JsonLines {
    left: u64,
    state: u64,
    line: u64,
}

impl JsonLines {
    pub(crate) fn new(bytes: u64) -> JsonLines {
        JsonLines {
            left: bytes,
            state: 0x9E37_79B9_7F4A_7C15,
            line: 0,
        }
    }

    /// Writes all lines.
    pub(crate) fn write_to(&mut self, sink: &mut impl Write) -> io::Result<()> {
        let mut piece = Vec::with_capacity(PIECE_BYTES + 1024);
        while self.left > 0 {
            while piece.len() < PIECE_BYTES {
                self.append_line(&mut piece)?;
            }
            let taken = usize::try_from(self.left)
                .unwrap_or(usize::MAX)
                .min(piece.len());
            sink.write_all(&piece[..taken])?;
            self.left -= taken as u64;
            piece.clear();
        }
        Ok(())
    }

    fn append_line(&mut self, piece: &mut Vec<u8>) -> io::Result<()> {
        self.line += 1;
        let (user, trace, choice) = (self.random() % 50_000, self.random(), self.random());
        let path = PATHS[(choice % 8) as usize];
        let agent = AGENTS[(choice >> 8 & 3) as usize];
        let status = if (choice >> 16) % 32 == 0 { 404 } else { 200 };
        let micros = choice >> 32 & 0xFFFF;
        writeln!(
            piece,
            r#"{{"at":{},"user":{user},"trace":"{trace:016x}","path":"{path}","status":{status},"micros":{micros},"agent":"{agent}"}}"#,
            1_700_000_000_000 + self.line * 7
        )
    }

    /// Xorshift: fast, and good enough for data that is only compressed.
    fn random(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }
}
