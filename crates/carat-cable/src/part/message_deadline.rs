use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Sleep, sleep};

/// How long a client may take to send a message, in whatever pieces.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// The deadline for the rest of a message that a client has begun.
#[derive(Default)]
pub(super) struct MessageDeadline {
    sleep: Option<Pin<Box<Sleep>>>,
}

impl MessageDeadline {
    /// Ends the deadline, because the message is complete. The next message gets a deadline of its
    /// own.
    pub(super) fn end(&mut self) {
        self.sleep = None;
    }

    /// Whether a message that `is_unfinished` has taken too long. If the deadline passes while the
    /// server does not read (`reads_on` is false), it begins anew. The task is woken at the
    /// deadline.
    pub(super) fn has_passed(
        &mut self,
        is_unfinished: bool,
        reads_on: bool,
        cx: &mut Context<'_>,
    ) -> bool {
        if !is_unfinished {
            self.sleep = None;
            return false;
        }
        let fresh = || Box::pin(sleep(MESSAGE_TIMEOUT));
        while self
            .sleep
            .get_or_insert_with(fresh)
            .as_mut()
            .poll(cx)
            .is_ready()
        {
            self.sleep = None;
            if reads_on {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use tokio::time::advance;

    use super::*;

    /// Whether the deadline has passed `seconds` later.
    async fn passes(deadline: &mut MessageDeadline, seconds: u64, reads_on: bool) -> bool {
        advance(Duration::from_secs(seconds)).await;
        let cx = &mut Context::from_waker(Waker::noop());
        deadline.has_passed(true, reads_on, cx)
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_has_its_time_however_it_is_cut_and_the_next_one_its_own() {
        let mut deadline = MessageDeadline::default();
        assert!(!passes(&mut deadline, 0, true).await);
        assert!(!passes(&mut deadline, 29, true).await);
        deadline.end();
        assert!(!passes(&mut deadline, 0, true).await);
        assert!(!passes(&mut deadline, 29, true).await);
        assert!(passes(&mut deadline, 1, true).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_the_server_does_not_read_is_not_late() {
        let mut deadline = MessageDeadline::default();
        assert!(!passes(&mut deadline, 0, true).await);
        assert!(!passes(&mut deadline, 31, false).await);
        assert!(!passes(&mut deadline, 29, true).await);
        assert!(passes(&mut deadline, 1, true).await);
    }

    #[tokio::test(start_paused = true)]
    async fn between_two_messages_nothing_is_late() {
        let mut deadline = MessageDeadline::default();
        assert!(!passes(&mut deadline, 0, true).await);
        let cx = &mut Context::from_waker(Waker::noop());
        advance(MESSAGE_TIMEOUT).await;
        assert!(!deadline.has_passed(false, true, cx));
        assert!(!passes(&mut deadline, 29, true).await);
    }
}
