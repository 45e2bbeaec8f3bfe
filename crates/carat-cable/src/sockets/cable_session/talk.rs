use std::rc::Rc;

/// What the clients of a subscription tell each other without the application.
#[derive(Clone, Debug)]
pub(super) struct Talk {
    /// The stream on which this one may whisper.
    pub(super) whisper: Rc<str>,
}

impl Talk {
    pub(super) fn of(whisper: &str, streams: &[Rc<str>]) -> Option<Box<Talk>> {
        let whisper = streams.iter().find(|stream| ***stream == *whisper)?;
        let whisper = Rc::clone(whisper);
        Some(Box::new(Talk { whisper }))
    }
}
