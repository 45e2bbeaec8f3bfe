use std::collections::VecDeque;
use std::collections::vec_deque::Drain;
use std::error::Error;
use std::fmt;
use std::mem::take;
use std::os::fd::OwnedFd;

use crate::DESCRIPTORS_LIMIT;

/// Descriptors that have arrived, in the order of their frames.
///
/// A process at its limit of open files receives the first descriptors of a message, and the kernel closes the others.
/// The frame that has the first descriptor of a message is marked, so only the frames whose descriptors were closed lose
/// them.
#[derive(Debug, Default)]
pub struct ArrivedDescriptors {
    arrived: VecDeque<OwnedFd>,
    /// The descriptors that the last `take` passed over.
    unclaimed: Vec<OwnedFd>,
    /// The message that the last frame took descriptors from.
    current: ReceivedMessage,
    later: VecDeque<ReceivedMessage>,
}

/// The rest of a message with descriptors.
#[derive(Debug, Default, Clone, Copy)]
struct ReceivedMessage {
    count: usize,
    /// Whether further descriptors of the message were lost.
    is_cut: bool,
}

/// Why the descriptors of a frame are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingDescriptors {
    /// The descriptors were sent, but this process could not open them.
    Lost,
    /// The descriptors were not sent.
    NotSent,
}

impl fmt::Display for MissingDescriptors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MissingDescriptors::Lost => "its descriptors were lost: too many files are open",
            MissingDescriptors::NotSent => "it came without its descriptors",
        })
    }
}

impl Error for MissingDescriptors {}

impl ArrivedDescriptors {
    /// Takes the `count` descriptors of a frame, at least one. `is_first` is
    /// [`has_first_descriptor`](carat_wire::Frame::has_first_descriptor) of that frame.
    pub fn take(
        &mut self,
        count: usize,
        is_first: bool,
    ) -> Result<Drain<'_, OwnedFd>, MissingDescriptors> {
        self.unclaimed.clear();
        let opens_message = is_first || (self.current.count == 0 && !self.current.is_cut);
        let mut rest = 0;
        if opens_message {
            self.next_message()?;
            rest = count.div_ceil(DESCRIPTORS_LIMIT).saturating_sub(1);
        }
        while rest > 0 && self.current.count < count && !self.current.is_cut {
            let next = self.later.pop_front();
            let next = next.ok_or(MissingDescriptors::NotSent)?;
            self.current.count += next.count;
            self.current.is_cut = next.is_cut;
            rest -= 1;
        }
        if self.current.count < count {
            return Err(self.skip(rest));
        }
        self.current.count -= count;
        Ok(self.arrived.drain(..count))
    }

    /// Takes the descriptors that no frame wanted. Otherwise the next [`take`](Self::take), or the next read, closes
    /// them.
    pub fn take_unclaimed(&mut self) -> Vec<OwnedFd> {
        take(&mut self.unclaimed)
    }

    /// How many descriptors wait for their frames.
    pub fn len(&self) -> usize {
        self.arrived.len()
    }

    /// Whether no descriptor waits for its frame.
    pub fn is_empty(&self) -> bool {
        self.arrived.is_empty()
    }

    /// Adds the descriptors of a message; `is_cut` says that the kernel closed some. Returns whether the message had
    /// any.
    pub(crate) fn add(&mut self, descriptors: impl Iterator<Item = OwnedFd>, is_cut: bool) -> bool {
        let before = self.arrived.len();
        self.arrived.extend(descriptors);
        let count = self.arrived.len() - before;
        let has_descriptors = count > 0 || is_cut;
        if has_descriptors {
            self.later.push_back(ReceivedMessage { count, is_cut });
        }
        has_descriptors
    }

    /// Skips the rest of the current message, and continues with the next one.
    fn next_message(&mut self) -> Result<(), MissingDescriptors> {
        self.pass_over(self.current.count);
        self.current = ReceivedMessage::default();
        self.current = self.later.pop_front().ok_or(MissingDescriptors::NotSent)?;
        Ok(())
    }

    /// Passes over the arrived descriptors of a frame. `rest` is how many messages follow that have further descriptors
    /// of the frame.
    fn skip(&mut self, rest: usize) -> MissingDescriptors {
        if !self.current.is_cut {
            return MissingDescriptors::NotSent;
        }
        for message in self.later.drain(..rest.min(self.later.len())) {
            self.current.count += message.count;
        }
        self.pass_over(self.current.count);
        self.current.count = 0;
        MissingDescriptors::Lost
    }

    fn pass_over(&mut self, count: usize) {
        self.unclaimed.extend(self.arrived.drain(..count));
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::iter;

    use super::*;

    fn files(count: usize) -> impl Iterator<Item = OwnedFd> {
        let open = || File::open("/dev/null").expect("there on every machine");
        iter::repeat_with(move || open().into()).take(count)
    }

    /// The descriptors of these messages, each with its count and whether it was cut.
    fn received(messages: &[(usize, bool)]) -> ArrivedDescriptors {
        let mut descriptors = ArrivedDescriptors::default();
        for (count, is_cut) in messages {
            descriptors.add(files(*count), *is_cut);
        }
        descriptors
    }

    fn take(
        descriptors: &mut ArrivedDescriptors,
        count: usize,
        is_first: bool,
    ) -> Result<usize, MissingDescriptors> {
        let taken = descriptors.take(count, is_first);
        taken.map(Iterator::count)
    }

    #[test]
    fn only_the_frames_whose_descriptors_were_closed_lose_them() {
        let mut descriptors = received(&[(2, true), (1, false), (0, true), (2, false)]);
        let frames = [
            (1, true, Ok(1)),
            (2, false, Err(MissingDescriptors::Lost)),
            (1, false, Err(MissingDescriptors::Lost)),
            (1, true, Ok(1)),
            (1, true, Err(MissingDescriptors::Lost)),
            (2, true, Ok(2)),
        ];
        for (count, is_first, expected) in frames {
            assert_eq!(take(&mut descriptors, count, is_first), expected);
        }
        assert!(descriptors.is_empty());
    }

    #[test]
    fn a_frame_that_fills_several_messages_loses_all_and_the_next_one_none() {
        for cut in 0..3 {
            let counts = [DESCRIPTORS_LIMIT, DESCRIPTORS_LIMIT, 7];
            let mut messages: Vec<_> = counts.iter().map(|count| (*count, false)).collect();
            messages[cut] = (counts[cut] / 2, true);
            messages.push((1, false));
            let mut descriptors = received(&messages);
            let count = counts.iter().sum();
            let found = take(&mut descriptors, count, true);
            assert_eq!(found, Err(MissingDescriptors::Lost));
            assert_eq!(descriptors.len(), 1);
            assert_eq!(take(&mut descriptors, 1, true), Ok(1));
        }
    }

    #[test]
    fn what_no_frame_takes_can_be_closed_elsewhere() {
        let mut descriptors = received(&[(3, false), (1, true), (1, false)]);
        let unclaimed = |descriptors: &mut ArrivedDescriptors| descriptors.take_unclaimed().len();
        assert_eq!(take(&mut descriptors, 1, true), Ok(1));
        assert_eq!(unclaimed(&mut descriptors), 0);
        let lost = Err(MissingDescriptors::Lost);
        assert_eq!(take(&mut descriptors, 2, true), lost);
        assert_eq!(unclaimed(&mut descriptors), 3);
        assert_eq!(take(&mut descriptors, 1, true), Ok(1));
        assert_eq!(unclaimed(&mut descriptors), 0);
    }

    #[test]
    fn descriptors_that_were_not_sent_are_not_lost() {
        let missing = Err(MissingDescriptors::NotSent);
        assert_eq!(take(&mut received(&[]), 1, true), missing);
        assert_eq!(take(&mut received(&[(1, false)]), 2, true), missing);
        let mut descriptors = received(&[(1, false)]);
        assert_eq!(take(&mut descriptors, 1, true), Ok(1));
        assert_eq!(take(&mut descriptors, 1, false), missing);
    }
}
