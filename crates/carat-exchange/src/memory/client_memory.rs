use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Waker;
use std::time::{Duration, Instant};

use carat_policy::MemoryDemand;
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

use crate::clock;

/// How long a connection may wait for memory before others have to give way.
const PAUSE_LIMIT: Duration = Duration::from_secs(1);

/// The shortest time from one relief to the next, when clients are refused for want of memory.
const RELIEF_PAUSE: Duration = Duration::from_millis(10);

/// The most bodies that are written to files without a buffer at a time. More would only wait for the threads that
/// write.
const UNBUFFERED_WRITERS: usize = 4;

/// The memory that clients make the edge hold, limited by `client_memory`.
///
/// Each kind of use has a limit of its own. Bodies, buffers, and decoders are the first to be refused memory. Then
/// reading of headers pauses. A use that cannot wait, such as a response that has arrived, is always granted: above the
/// limit, other clients give way.
#[derive(Debug)]
pub struct ClientMemory {
    limit: Cell<u64>,
    /// The bytes that parts, such as the cache, lend to clients.
    lent: Cell<u64>,
    /// Bytes that accounts hold.
    counted: Cell<u64>,
    /// The bytes that the process holds for clients beyond the counted ones, as far as is known.
    uncounted: Cell<u64>,
    /// The bytes of responses that workers may send unasked.
    promised: Cell<u64>,
    /// Above this many bytes, connections are relieved before the next tick, because many bytes may arrive between two
    /// ticks.
    alarm_at: Cell<u64>,
    alarm: Notify,
    /// When connections were last told to close.
    relieved: Cell<Instant>,
    refused: Cell<u64>,
    /// The paused connections, in the order in which they resume.
    paused: RefCell<VecDeque<Rc<PausedRead>>>,
    /// The requests that write their bodies to files piece by piece, because there is no memory for buffers.
    writers: Semaphore,
}

/// The account of the memory that a client makes the edge hold. Dropping it returns everything.
#[derive(Debug)]
pub struct MemoryAccount {
    memory: Rc<ClientMemory>,
    held: Cell<u64>,
    is_paused: Cell<bool>,
}

/// A connection that waits for memory before it reads on. Dropping it ends the wait.
pub struct MemoryWait {
    account: Rc<MemoryAccount>,
    read: Rc<PausedRead>,
}

#[derive(Debug)]
struct PausedRead {
    wanted: u64,
    since: Instant,
    is_over: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl ClientMemory {
    /// A budget of `limit` bytes.
    pub fn new(limit: u64) -> Rc<ClientMemory> {
        Rc::new(ClientMemory {
            limit: Cell::new(limit),
            lent: Cell::new(0),
            counted: Cell::new(0),
            uncounted: Cell::new(0),
            promised: Cell::new(0),
            alarm_at: Cell::new(limit),
            alarm: Notify::new(),
            relieved: Cell::new(clock::now()),
            refused: Cell::new(0),
            paused: RefCell::default(),
            writers: Semaphore::new(UNBUFFERED_WRITERS),
        })
    }

    /// Waits for the turn to write a body without a buffer. Each piece takes memory until the disk has it, so only a
    /// few bodies are written at once.
    pub async fn turn_to_write(&self) -> Option<SemaphorePermit<'_>> {
        self.writers.acquire().await.ok()
    }

    /// The limit in bytes, including the bytes that parts lend.
    pub fn limit(&self) -> u64 {
        self.limit.get() + self.lent.get()
    }

    /// The limit in bytes, without the bytes that parts lend.
    pub fn own_limit(&self) -> u64 {
        self.limit.get()
    }

    /// Whether clients need the memory that parts could lend them.
    pub fn needs_more(&self) -> bool {
        self.used() > MemoryDemand::comfortable(self.limit.get())
    }

    /// Lets clients take this many bytes beyond the budget, lent by parts.
    pub fn lend(&self, bytes: u64) {
        if self.lent.replace(bytes) != bytes {
            self.alarm_at.set(self.limit());
        }
    }

    /// Sets the budget to `limit` bytes. If more is used, some connections are ended.
    pub fn set_limit(&self, limit: u64) {
        self.limit.set(limit);
        self.alarm_at.set(self.limit());
        if self.used() > self.limit() {
            self.alarm.notify_one();
        }
    }

    fn comfortable(&self) -> u64 {
        MemoryDemand::comfortable(self.limit())
    }

    fn for_headers(&self) -> u64 {
        MemoryDemand::for_headers(self.limit())
    }

    /// Bytes that clients make the edge hold.
    pub fn used(&self) -> u64 {
        self.counted.get().saturating_add(self.uncounted.get())
    }

    /// Bytes that accounts hold.
    pub fn counted(&self) -> u64 {
        self.counted.get()
    }

    /// Sets how many bytes the process holds for clients beyond the counted ones.
    pub fn set_uncounted(&self, bytes: u64) {
        self.uncounted.set(bytes);
    }

    /// The account of one more client.
    pub fn account(self: &Rc<Self>) -> Rc<MemoryAccount> {
        Rc::new(MemoryAccount {
            memory: Rc::clone(self),
            held: Cell::new(0),
            is_paused: Cell::new(false),
        })
    }

    /// Whether a use that can be refused may take this many bytes.
    pub fn has_room(&self, bytes: u64) -> bool {
        self.fits(bytes, self.comfortable())
    }

    /// Whether this many bytes are left below the limit.
    pub fn has_rest(&self, bytes: u64) -> bool {
        self.fits(bytes, self.limit())
    }

    /// Whether memory is short: uses that can be refused are.
    pub fn is_short(&self) -> bool {
        self.used() > self.comfortable()
    }

    /// Whether a worker may be promised this many bytes. All promises share the memory above the limit for bodies and
    /// buffers.
    pub fn may_promise(&self, bytes: u64) -> bool {
        let promised = self.promised.get().saturating_add(bytes);
        promised <= self.limit() - self.comfortable() && self.fits(promised, self.comfortable())
    }

    /// Notes that a worker may send this many more bytes.
    pub fn promise(&self, bytes: u64) {
        self.promised.set(self.promised.get() + bytes);
    }

    /// Notes that a worker has sent this many bytes, or will not send them.
    pub fn take_back(&self, bytes: u64) {
        self.promised.set(self.promised.get() - bytes);
    }

    /// Waits until the limit is exceeded, or much more is used than when the alarm was set.
    pub async fn alarm(&self) {
        self.alarm.notified().await;
    }

    /// Sets the alarm anew: connections were told to close, and need a moment.
    pub fn postpone_alarm(&self) {
        self.alarm_at.set(self.next_alarm());
        self.relieved.set(clock::now());
    }

    fn next_alarm(&self) -> u64 {
        let more = self.used().saturating_add(self.limit() / 16);
        more.max(self.limit())
    }

    /// Counts a request or a connection that was refused for want of memory before it began. Connections without
    /// progress are then made to give way for the next one.
    pub fn refuse(&self) {
        self.note_refused(1);
        let since = clock::now().saturating_duration_since(self.relieved.get());
        if since >= RELIEF_PAUSE {
            self.alarm.notify_one();
        }
    }

    /// Counts clients that were refused for want of memory.
    pub fn note_refused(&self, count: u64) {
        self.refused.set(self.refused.get() + count);
    }

    /// Whether clients were refused since they were counted last.
    pub fn has_refused(&self) -> bool {
        self.refused.get() > 0
    }

    /// How many clients were refused since the last call.
    pub fn take_refused(&self) -> u64 {
        self.refused.take()
    }

    /// Resumes paused connections for which there is memory now, in the order in which they paused. Called once a tick.
    pub fn resume(&self) {
        let mut paused = self.paused.borrow_mut();
        let mut used = self.used();
        if used <= self.limit() {
            self.alarm_at.set(self.limit());
        }
        while let Some(read) = paused.front() {
            if !read.is_over.get() {
                used = used.saturating_add(read.wanted);
                if used > self.for_headers() {
                    return;
                }
                read.is_over.set(true);
                if let Some(waker) = read.waker.take() {
                    waker.wake();
                }
            }
            paused.pop_front();
        }
    }

    /// How much is used and, once a connection has been paused for too long, how much more is needed.
    pub fn demand(&self, now: Instant) -> MemoryDemand {
        let paused = self.paused.borrow();
        let mut waiting = paused.iter().filter(|read| !read.is_over.get());
        let first = waiting.next();
        let is_overdue =
            first.is_some_and(|read| now.saturating_duration_since(read.since) >= PAUSE_LIMIT);
        let first = first.filter(|_| is_overdue).map_or(0, |read| read.wanted);
        let others: u64 = waiting.filter(|_| is_overdue).map(|read| read.wanted).sum();
        MemoryDemand {
            limit: self.limit(),
            used: self.used(),
            wanted: first + others,
            wanted_first: first,
        }
    }

    /// Whether headers may take more bytes. False while others wait, so that they are not overtaken.
    fn admits(&self, bytes: u64) -> bool {
        self.paused.borrow().is_empty() && self.fits(bytes, self.for_headers())
    }

    fn fits(&self, bytes: u64, limit: u64) -> bool {
        self.used().saturating_add(bytes) <= limit
    }
}

impl MemoryAccount {
    /// The budget of all clients.
    pub fn memory(&self) -> &Rc<ClientMemory> {
        &self.memory
    }

    /// Bytes held for this client.
    pub fn held(&self) -> u64 {
        self.held.get()
    }

    /// Whether the connection waits for memory.
    pub fn is_paused(&self) -> bool {
        self.is_paused.get()
    }

    /// Takes bytes, even beyond the limit.
    pub fn take(&self, bytes: u64) {
        self.held.set(self.held.get() + bytes);
        let memory = &self.memory;
        memory.counted.set(memory.counted.get() + bytes);
        if memory.used() > memory.alarm_at.get() {
            memory.alarm_at.set(u64::MAX);
            memory.alarm.notify_one();
        }
    }

    /// Takes bytes unless memory is short.
    pub fn try_take(&self, bytes: u64) -> bool {
        let fits = self.memory.has_room(bytes);
        if fits {
            self.take(bytes);
        }
        fits
    }

    /// Returns bytes that were taken.
    pub fn give_back(&self, bytes: u64) {
        self.held.set(self.held.get() - bytes);
        let memory = &self.memory;
        memory.counted.set(memory.counted.get() - bytes);
        // The returned bytes may be taken again before the next tick.
        let alarm_at = memory.alarm_at.get().min(memory.next_alarm());
        memory.alarm_at.set(alarm_at);
    }

    /// Whether the headers of a request may take more bytes at once.
    pub fn admits(&self, bytes: u64) -> bool {
        self.memory.admits(bytes)
    }

    /// Waits until headers may take more bytes.
    pub fn pause(self: &Rc<Self>, wanted: u64, now: Instant) -> MemoryWait {
        let read = Rc::new(PausedRead {
            wanted,
            since: now,
            is_over: Cell::new(false),
            waker: RefCell::default(),
        });
        self.memory.paused.borrow_mut().push_back(Rc::clone(&read));
        self.is_paused.set(true);
        MemoryWait {
            account: Rc::clone(self),
            read,
        }
    }
}

impl Drop for MemoryAccount {
    fn drop(&mut self) {
        self.give_back(self.held.get());
    }
}

impl MemoryWait {
    /// Whether the wait is over. Otherwise `waker` is woken when it is.
    pub fn is_over(&self, waker: &Waker) -> bool {
        if !self.read.is_over.get() {
            self.read.waker.replace(Some(waker.clone()));
        }
        self.read.is_over.get()
    }
}

impl Drop for MemoryWait {
    fn drop(&mut self) {
        self.account.is_paused.set(false);
        self.read.is_over.set(true);
    }
}

#[cfg(any(test, feature = "fixture"))]
impl ClientMemory {
    /// The bytes of responses that workers may send unasked.
    pub fn promised(&self) -> u64 {
        self.promised.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_over(memory_wait: &MemoryWait) -> bool {
        memory_wait.is_over(Waker::noop())
    }

    #[test]
    fn a_dropped_account_returns_what_it_holds() {
        let memory = ClientMemory::new(800);
        let (one, other) = (memory.account(), memory.account());
        one.take(100);
        other.take(200);
        one.give_back(30);
        assert_eq!((memory.used(), one.held(), other.held()), (270, 70, 200));
        drop(one);
        assert_eq!(memory.used(), 200);
        drop(other);
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn what_can_do_without_gets_nothing_of_the_last_quarter() {
        let memory = ClientMemory::new(800);
        let account = memory.account();
        assert!(account.try_take(600) && !memory.is_short());
        assert!(!account.try_take(1) && account.admits(100) && !account.admits(101));
        account.take(200);
        assert_eq!((memory.is_short(), memory.used()), (true, 800));
    }

    #[test]
    fn paused_connections_resume_in_the_order_in_which_they_came() {
        let memory = ClientMemory::new(800);
        let holder = memory.account();
        holder.take(700);
        let (first, second) = (memory.account(), memory.account());
        let now = Instant::now();
        let (first, second) = (first.pause(200, now), second.pause(10, now));
        memory.resume();
        assert!(!is_over(&first) && !is_over(&second));

        holder.give_back(150);
        memory.resume();
        assert!(!is_over(&first) && !is_over(&second), "nobody overtakes");
        assert!(!holder.admits(10), "not even who did not wait");

        holder.give_back(100);
        memory.resume();
        assert!(is_over(&first) && is_over(&second));
        drop((first, second));
        assert!(holder.admits(10));
    }

    #[test]
    fn who_leaves_the_queue_does_not_hold_others_up() {
        let memory = ClientMemory::new(800);
        let holder = memory.account();
        holder.take(700);
        let account = memory.account();
        let gone = account.pause(800, Instant::now());
        assert!(account.is_paused());
        drop(gone);
        assert!(!account.is_paused());
        let next = account.pause(100, Instant::now());
        holder.give_back(100);
        memory.resume();
        assert!(is_over(&next));
    }

    #[test]
    fn a_pause_becomes_a_demand_when_it_lasts() {
        let memory = ClientMemory::new(800);
        let account = memory.account();
        let other = memory.account();
        let start = Instant::now();
        let _tickets = (account.pause(800, start), other.pause(50, start));
        let wanted = |now| {
            let demand = memory.demand(now);
            (demand.wanted, demand.wanted_first)
        };
        assert_eq!(wanted(start + PAUSE_LIMIT / 2), (0, 0));
        assert_eq!(wanted(start + PAUSE_LIMIT), (850, 800));
    }

    #[test]
    fn a_limit_that_is_lowered_or_raised_holds_at_once() {
        let memory = ClientMemory::new(1000);
        let account = memory.account();
        account.take(500);
        assert!(!memory.is_short() && memory.has_room(1));
        memory.set_limit(400);
        assert!(memory.is_short() && memory.demand(Instant::now()).used > memory.limit());
        memory.set_limit(1000);
        assert!(!memory.is_short());
        account.give_back(500);
    }

    #[tokio::test]
    async fn the_alarm_rings_above_the_limit_and_again_when_much_more_is_used() {
        let rings = async |memory: &ClientMemory| {
            tokio::select! {
                biased;
                () = memory.alarm() => true,
                () = std::future::ready(()) => false,
            }
        };
        let memory = ClientMemory::new(800);
        let account = memory.account();
        account.take(800);
        assert!(!rings(&memory).await);
        account.take(1);
        assert!(rings(&memory).await);
        memory.postpone_alarm();
        account.take(50);
        assert!(!rings(&memory).await);
        account.take(1);
        assert!(rings(&memory).await);
        memory.postpone_alarm();
        account.give_back(200);
        account.take(148);
        assert!(!rings(&memory).await);
        account.take(1);
        assert!(rings(&memory).await, "before the next tick");
    }

    #[test]
    fn refusals_are_counted_once() {
        let memory = ClientMemory::new(800);
        memory.note_refused(2);
        memory.note_refused(1);
        assert_eq!((memory.take_refused(), memory.take_refused()), (3, 0));
    }
}
