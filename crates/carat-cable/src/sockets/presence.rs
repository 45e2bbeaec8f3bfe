use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;

use super::SocketNumber;
use crate::protocol::presence_list;
use crate::{PresenceChange, PresentMember};

/// Most bytes about those who are present, on all streams together.
pub const PRESENCE_LIMIT: usize = 8 * 1024 * 1024;
/// Most bytes of the list of those who are present on a stream.
pub const PRESENCE_LIST_LIMIT: usize = 128 * 1024;
/// Seconds for which somebody whose socket has ended is still present.
const PRESENCE_TTL: u64 = 15;
/// How many changes are told at once. The others wait for the next tick.
const CHANGES_AT_ONCE: usize = 64;
/// What a stream, or somebody who is present, takes beside the texts.
const ENTRY_COST: usize = 256;
/// What a socket by which somebody is present takes.
const SOCKET_COST: usize = 64;

/// Who is present on which stream, by which sockets. Subscribers are told once a tick; they hear nothing of a client that has
/// joined and left in between.
#[derive(Debug, Default)]
pub(super) struct Presence {
    streams: HashMap<Rc<str>, PresentOnStream>,
    /// What nobody has been told yet.
    changed: VecDeque<(Rc<str>, Rc<str>)>,
    /// Sockets that have ended, and when those are gone whom they made present. The first comes first.
    ended: VecDeque<(u64, Rc<str>, Rc<str>, SocketNumber)>,
    bytes: usize,
    now: u64,
}

#[derive(Debug, Default)]
struct PresentOnStream {
    by_id: BTreeMap<Rc<str>, PresentClient>,
    /// Bytes of the list.
    listed: usize,
}

#[derive(Debug)]
struct PresentClient {
    member: PresentMember,
    /// One that has subscribed twice counts twice.
    sockets: Vec<SocketNumber>,
    /// Whether the subscribers know of it.
    is_known: bool,
    is_changed: bool,
}

impl Presence {
    /// Bytes that are held.
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes
    }

    /// A member is present by this socket, too; its latest record counts. False if there is no room for it.
    pub(super) fn join(
        &mut self,
        stream: &Rc<str>,
        member: &PresentMember,
        number: SocketNumber,
    ) -> bool {
        let present = self.streams.get(stream);
        let known = present.and_then(|present| present.by_id.get(&member.id));
        let replaced = known.map(|client| &client.member);
        let listed = present.map_or(0, |present| present.listed) + member.listed_bytes()
            - replaced.map_or(0, PresentMember::listed_bytes);
        let bytes = self.bytes + SOCKET_COST + cost_of(stream, member)
            - replaced.map_or(0, |member| cost_of(stream, member));
        if listed > PRESENCE_LIST_LIMIT || bytes > PRESENCE_LIMIT {
            return false;
        }
        self.bytes = bytes;
        let present = self.streams.entry(Rc::clone(stream)).or_default();
        present.listed = listed;
        let client = present.by_id.entry(Rc::clone(&member.id));
        let client = client.or_insert_with(|| PresentClient {
            member: member.clone(),
            sockets: Vec::new(),
            is_known: false,
            is_changed: false,
        });
        client.member = member.clone();
        client.sockets.push(number);
        self.note(stream, &member.id);
        true
    }

    /// The subscribers know of somebody from another edge.
    pub(super) fn know(&mut self, stream: &Rc<str>, id: &Rc<str>) {
        if let Some(client) = self.client(stream, id) {
            client.is_known = true;
        }
    }

    /// Somebody is not present by this socket any more.
    pub(super) fn leave(&mut self, stream: &str, id: &str, number: SocketNumber) {
        let Some((stream, present)) = self.streams.get_key_value(stream) else {
            return;
        };
        let (stream, client) = (Rc::clone(stream), present.by_id.get_key_value(id));
        let Some((id, _)) = client else { return };
        let id = Rc::clone(id);
        let Some(client) = self.client(&stream, &id) else {
            return;
        };
        if let Some(at) = client.sockets.iter().position(|it| *it == number) {
            client.sockets.swap_remove(at);
            self.bytes -= SOCKET_COST;
            self.note(&stream, &id);
        }
    }

    /// The socket has ended. Whoever is present by it leaves later, unless somebody with the same id comes meanwhile.
    pub(super) fn end(&mut self, stream: &Rc<str>, id: &Rc<str>, number: SocketNumber) {
        let until = self.now + PRESENCE_TTL;
        let ended = (until, Rc::clone(stream), Rc::clone(id), number);
        self.ended.push_back(ended);
    }

    /// The list for a client.
    pub(super) fn list(&self, stream: &str) -> String {
        let present = self.streams.get(stream).into_iter();
        let clients = present.flat_map(|present| present.by_id.values());
        let here = clients.filter(|client| !client.sockets.is_empty());
        presence_list(here.map(|client| &client.member))
    }

    /// It is `now`, in seconds. Returns what subscribers are to be told.
    pub(super) fn tick(&mut self, now: u64) -> Vec<(Rc<str>, PresenceChange)> {
        self.now = now;
        while self.ended.front().is_some_and(|(until, ..)| *until <= now) {
            if let Some((_, stream, id, number)) = self.ended.pop_front() {
                self.leave(&stream, &id, number);
            }
        }
        let count = self.changed.len().min(CHANGES_AT_ONCE);
        let changed: Vec<_> = self.changed.drain(..count).collect();
        if self.changed.is_empty() {
            self.changed = VecDeque::new();
        }
        let told = changed.into_iter().filter_map(|(stream, id)| {
            let change = self.settle(&stream, &id)?;
            Some((stream, change))
        });
        told.collect()
    }

    /// What has become of somebody.
    fn settle(&mut self, stream: &Rc<str>, id: &Rc<str>) -> Option<PresenceChange> {
        let client = self.client(stream, id)?;
        client.is_changed = false;
        let (is_here, was_known) = (!client.sockets.is_empty(), client.is_known);
        client.is_known = is_here;
        let member = client.member.clone();
        if !is_here {
            self.remove(stream, &member);
        }
        match (is_here, was_known) {
            (true, false) => Some(PresenceChange::Join(member)),
            (false, true) => Some(PresenceChange::Leave(member)),
            _ => None,
        }
    }

    fn remove(&mut self, stream: &Rc<str>, member: &PresentMember) {
        self.bytes -= cost_of(stream, member);
        if let Some(present) = self.streams.get_mut(stream) {
            present.by_id.remove(&member.id);
            present.listed -= member.listed_bytes();
            if present.by_id.is_empty() {
                self.streams.remove(stream);
            }
        }
    }

    fn note(&mut self, stream: &Rc<str>, id: &Rc<str>) {
        let client = self.client(stream, id);
        if let Some(client) = client.filter(|client| !client.is_changed) {
            client.is_changed = true;
            self.changed.push_back((Rc::clone(stream), Rc::clone(id)));
        }
    }

    fn client(&mut self, stream: &Rc<str>, id: &Rc<str>) -> Option<&mut PresentClient> {
        self.streams.get_mut(stream)?.by_id.get_mut(id)
    }
}

/// What somebody takes, with a stream of its own.
fn cost_of(stream: &str, member: &PresentMember) -> usize {
    2 * ENTRY_COST + stream.len() + member.held_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(id: &str) -> PresentMember {
        let json = format!(r#"{{"id":"{id}","info":{{"name":"{id}"}}}}"#);
        PresentMember::parse(&json).expect("a member")
    }

    /// What subscribers are told at this time.
    fn told(presence: &mut Presence, now: u64) -> Vec<String> {
        let changes = presence.tick(now).into_iter();
        let texts = changes.map(|(stream, change)| format!("{stream} {}", change.json()));
        texts.collect()
    }

    #[test]
    fn subscribers_are_told_of_the_first_socket_and_of_the_last() {
        let (mut presence, room) = (Presence::default(), Rc::from("room"));
        assert!(presence.join(&room, &member("ann"), 1));
        assert!(presence.join(&room, &member("ann"), 2));
        let join = r#"room {"type":"join","info":{"name":"ann"},"id":"ann"}"#;
        assert_eq!(told(&mut presence, 1), [join]);
        let list = r#"{"type":"info","total":1,"records":[{"info":{"name":"ann"},"id":"ann"}]}"#;
        assert_eq!(presence.list("room"), list);
        presence.leave("room", "ann", 1);
        presence.leave("room", "ann", 1);
        presence.leave("room", "ben", 1);
        presence.leave("hall", "ann", 2);
        assert_eq!(told(&mut presence, 2), [""; 0]);
        presence.leave("room", "ann", 2);
        assert_eq!(presence.list("room"), r#"{"type":"info","total":0}"#);
        let found = told(&mut presence, 3);
        assert_eq!(found, [r#"room {"type":"leave","id":"ann"}"#]);
        assert_eq!((presence.held_bytes(), presence.streams.len()), (0, 0));
    }

    #[test]
    fn who_comes_and_goes_within_a_tick_was_not_there() {
        let (mut presence, room) = (Presence::default(), Rc::from("room"));
        for number in 0..100 {
            presence.join(&room, &member("ann"), number);
            presence.leave("room", "ann", number);
        }
        let found = (presence.changed.len(), told(&mut presence, 1).len());
        assert_eq!(found, (1, 0));
        assert_eq!(presence.held_bytes(), 0);
    }

    #[test]
    fn who_is_cut_off_leaves_later_unless_he_comes_back() {
        let (mut presence, room) = (Presence::default(), Rc::from("room"));
        for (id, number) in [("ann", 1), ("ben", 2)] {
            presence.join(&room, &member(id), number);
        }
        assert_eq!(told(&mut presence, 100).len(), 2);
        presence.end(&room, &"ann".into(), 1);
        presence.end(&room, &"ben".into(), 2);
        assert_eq!(told(&mut presence, 114), [""; 0]);
        presence.join(&room, &member("ben"), 3);
        let found = told(&mut presence, 115);
        assert_eq!(found, [r#"room {"type":"leave","id":"ann"}"#]);
        assert!(presence.list("room").contains("ben"));
        presence.leave("room", "ben", 3);
        assert_eq!(told(&mut presence, 116).len(), 1);
        assert_eq!((presence.held_bytes(), presence.ended.len()), (0, 0));
    }

    #[test]
    fn the_list_of_a_stream_is_bounded_and_so_are_all_together() {
        let mut presence = Presence::default();
        let join = |presence: &mut Presence, stream: usize, number: usize| {
            let stream = Rc::from(format!("{stream}"));
            presence.join(&stream, &member(&format!("{number:01000}")), number as u64)
        };
        let count = (0..1000).take_while(|number| join(&mut presence, 0, *number));
        assert!((50..1000).contains(&count.count()));
        assert!(presence.list("0").len() <= PRESENCE_LIST_LIMIT + 100);
        let more = (0..100_000).take_while(|number| join(&mut presence, 1 + number / 50, *number));
        assert!((1000..100_000).contains(&more.count()));
        assert!(presence.held_bytes() <= PRESENCE_LIMIT);
        let mut last = 0;
        while !presence.changed.is_empty() {
            last = presence.tick(1).len();
            assert!(last <= CHANGES_AT_ONCE);
        }
        assert!(last > 0);
    }
}
