use std::cell::Cell;

/// How many bytes went to and from a client since hyper took its connection.
#[derive(Debug, Default)]
pub struct ClientBytes {
    received: Cell<u64>,
    written: Cell<u64>,
}

impl ClientBytes {
    /// Counts bytes that the client has sent.
    pub fn count_received(&self, bytes: usize) {
        self.received.set(self.received.get() + bytes as u64);
    }

    /// Counts bytes that the kernel accepted for the client.
    pub fn count_written(&self, bytes: usize) {
        self.written.set(self.written.get() + bytes as u64);
    }

    /// Whether the client has sent anything.
    pub fn has_received(&self) -> bool {
        self.received.get() > 0
    }

    /// Bytes written.
    pub(crate) fn written(&self) -> u64 {
        self.written.get()
    }

    /// Bytes received and written.
    pub fn moved(&self) -> u64 {
        self.received.get() + self.written.get()
    }
}
