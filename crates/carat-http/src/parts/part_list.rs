use super::edge_event::EdgeEvent;
use super::lends::Lends;
use super::part::{OtherParts, Part};
use super::part_sample::PartSample;
use crate::time_limits::Lenders;

/// The parts that are switched on, in the order in which they act.
#[derive(Default)]
pub struct PartList {
    /// The parts that see requests, and then the others.
    parts: Box<[Box<dyn Part>]>,
    /// How many see requests.
    seeing: usize,
}

impl PartList {
    /// The parts in their order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &dyn Part> + ExactSizeIterator {
        self.parts.iter().map(|part| &**part)
    }

    /// The parts that see requests.
    pub(crate) fn steps(&self) -> impl DoubleEndedIterator<Item = &dyn Part> + ExactSizeIterator {
        self.parts[..self.seeing].iter().map(|part| &**part)
    }

    /// The part that answers operators at this path.
    pub fn at(&self, path: &str) -> Option<&dyn Part> {
        self.iter().find(|part| part.admin_paths().contains(&path))
    }

    /// Passes a message of a process of the application to the part of this name. Without that part, the message is
    /// lost.
    pub fn deliver(&self, part: &str, subject: &[u8], content: &[u8]) {
        if let Some(part) = self.iter().find(|it| it.name() == part) {
            part.message(subject, content);
        }
    }

    /// Shows an event of the edge to each part.
    pub fn note(&self, event: &EdgeEvent) {
        self.iter().for_each(|part| part.note(event));
    }

    /// The bytes that parts hold in addition to `client_memory`.
    pub fn held(&self) -> u64 {
        self.lenders().map(Lends::held).sum()
    }

    fn lenders(&self) -> impl Iterator<Item = &dyn Lends> {
        self.iter().filter_map(|part| part.memory())
    }

    /// The bytes that parts may hold in addition to `client_memory`.
    pub fn memory_limit(&self) -> u64 {
        let limits = self.lenders().map(Lends::limit);
        limits.fold(0, u64::saturating_add)
    }
}

impl Lenders for PartList {
    fn held(&self) -> u64 {
        PartList::held(self)
    }

    fn give_way(&self, gives_way: bool) -> u64 {
        let left = self.lenders().map(|memory| {
            memory.give_way(gives_way);
            memory.limit().saturating_sub(memory.held())
        });
        let left = left.fold(0, u64::saturating_add);
        if gives_way { left } else { 0 }
    }
}

impl OtherParts for PartList {
    fn samples(&self) -> Vec<PartSample> {
        self.iter().flat_map(Part::samples).collect()
    }

    fn at(&self, path: &str) -> Option<&dyn Part> {
        PartList::at(self, path)
    }
}

impl FromIterator<Box<dyn Part>> for PartList {
    fn from_iter<T: IntoIterator<Item = Box<dyn Part>>>(parts: T) -> PartList {
        let (seeing, others): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|part| part.sees_requests());
        PartList {
            seeing: seeing.len(),
            parts: seeing.into_iter().chain(others).collect(),
        }
    }
}

/// Tests take a list apart to compose their own.
#[cfg(feature = "fixture")]
impl IntoIterator for PartList {
    type Item = Box<dyn Part>;
    type IntoIter = std::vec::IntoIter<Box<dyn Part>>;

    fn into_iter(self) -> Self::IntoIter {
        self.parts.into_vec().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A part that may hold 100 bytes, and holds some until it gives way.
    struct Holder(Cell<u64>);

    impl Part for Holder {
        fn name(&self) -> &'static str {
            "holder"
        }

        fn memory(&self) -> Option<&dyn Lends> {
            Some(self)
        }

        fn message(&self, subject: &[u8], content: &[u8]) {
            self.0.set((subject.len() + content.len()) as u64);
        }

        fn admin_paths(&self) -> &'static [&'static str] {
            &["/holder"]
        }
    }

    impl Lends for Holder {
        fn limit(&self) -> u64 {
            100
        }

        fn held(&self) -> u64 {
            self.0.get()
        }

        fn give_way(&self, gives_way: bool) {
            if gives_way {
                self.0.set(1);
            }
        }
    }

    /// A part that only those who run the server know of.
    struct Hidden;

    impl Part for Hidden {
        fn name(&self) -> &'static str {
            "hidden"
        }

        fn sees_requests(&self) -> bool {
            false
        }

        fn admin_paths(&self) -> &'static [&'static str] {
            &["/hidden"]
        }
    }

    #[test]
    fn requests_pass_by_a_part_that_answers_only_those_who_run_the_server() {
        let holder = Box::new(Holder(Cell::new(0))) as Box<dyn Part>;
        let parts: PartList = [Box::new(Hidden) as Box<dyn Part>, holder]
            .into_iter()
            .collect();
        let names: Vec<_> = parts.steps().map(Part::name).collect();
        assert_eq!((names, parts.iter().count()), (vec!["holder"], 2));
        assert_eq!(parts.at("/hidden").map(Part::name), Some("hidden"));
        assert!(parts.at("/").is_none());
    }

    #[test]
    fn a_part_hears_messages_with_its_name_and_answers_at_its_paths() {
        let holder = Box::new(Holder(Cell::new(0))) as Box<dyn Part>;
        let parts: PartList = [holder].into_iter().collect();
        parts.deliver("other", b"a", b"message");
        assert_eq!(parts.held(), 0);
        parts.deliver("holder", b"a", b"message");
        assert_eq!(parts.held(), 8);
        assert!(parts.at("/holder").is_some() && parts.at("/").is_none());
    }

    #[test]
    fn clients_get_what_parts_leave_of_their_limits() {
        let held = [10, 20].map(|held| Box::new(Holder(Cell::new(held))) as Box<dyn Part>);
        let parts: PartList = held.into_iter().collect();
        assert_eq!((parts.memory_limit(), parts.held()), (200, 30));
        assert_eq!((parts.give_way(false), parts.held()), (0, 30));
        assert_eq!((parts.give_way(true), parts.held()), (198, 2));
    }
}
