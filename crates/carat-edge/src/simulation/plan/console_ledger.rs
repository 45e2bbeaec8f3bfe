use std::collections::BTreeSet;

/// The clients of consoles: which of them wait for the end of their console, and whose console has begun.
#[derive(Debug, Default)]
pub(crate) struct ConsoleLedger {
    asked: usize,
    present: BTreeSet<usize>,
    begun: BTreeSet<usize>,
}

impl ConsoleLedger {
    /// A client asks for a console; returns its number.
    pub(crate) fn ask(&mut self) -> usize {
        self.asked += 1;
        self.asked
    }

    /// The server has promised a client a console.
    pub(crate) fn accept(&mut self, client: usize) {
        self.present.insert(client);
    }

    /// Notes that a process begins the console of a client. False if another one has before.
    pub(crate) fn begin(&mut self, client: usize) -> bool {
        self.begun.insert(client)
    }

    /// Notes that a client leaves, or has heard of the end of its console. False if it has before.
    pub(crate) fn leave(&mut self, client: usize) -> bool {
        self.present.remove(&client)
    }

    /// Whether this client waits for the end of its console.
    pub(crate) fn is_present(&self, client: usize) -> bool {
        self.present.contains(&client)
    }

    /// The clients whose console has begun, and who have not heard of its end.
    pub(crate) fn unfinished(&self) -> Vec<usize> {
        self.present.intersection(&self.begun).copied().collect()
    }

    /// Whether each client that waits has a console, and no console runs without a client.
    pub(crate) fn is_settled(&self, consoles: usize) -> bool {
        consoles == self.present.len() && self.present.is_subset(&self.begun)
    }
}
