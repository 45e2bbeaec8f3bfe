use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::demand_refusal::DemandRefusal;

/// The questions to the application: ten a second, and fifty at once.
const QUESTIONS: Meter = Meter::new(50, Duration::from_secs(5));
/// The questions that the clients of one network cause: ten a minute.
const CLIENT_QUESTIONS: Meter = Meter::new(10, Duration::from_secs(60));
/// The orders: a hundred at once, and a hundred an hour. Let's Encrypt allows 300 in three hours.
const ORDERS: Meter = Meter::new(100, Duration::from_secs(3600));

/// The most networks of clients that are remembered. With ten questions a second, 650 have asked in the last minute.
const ASKING_NETWORKS_LIMIT: usize = 1024;
/// The most refused names that are remembered.
const REFUSED_NAMES_LIMIT: usize = 4096;

/// How much clients can cause by asking for names.
#[derive(Debug)]
pub(super) struct DemandLimits {
    questions: Meter,
    orders: Meter,
    clients: HashMap<Option<IpAddr>, Meter>,
    refused: HashMap<String, RememberedRefusal>,
}

/// A refusal that holds for some time.
#[derive(Debug)]
struct RememberedRefusal {
    refusal: DemandRefusal,
    until: Instant,
}

/// Counts events by the generic cell rate algorithm (ITU-T I.371): so many in a period, which may come all at once.
#[derive(Debug, Clone, Copy)]
struct Meter {
    period: Duration,
    share: Duration,
    /// When all events would be over if each took its share of the period.
    over: Option<Instant>,
}

impl Meter {
    const fn new(events: u32, period: Duration) -> Meter {
        Meter {
            period,
            share: period.checked_div(events).expect("more than none"),
            over: None,
        }
    }

    fn next(&self, now: Instant) -> Instant {
        self.over.map_or(now, |over| over.max(now)) + self.share
    }

    fn has_room(&self, now: Instant) -> bool {
        self.next(now) <= now + self.period
    }

    fn count(&mut self, now: Instant) {
        self.over = Some(self.next(now));
    }

    fn is_idle(&self, now: Instant) -> bool {
        self.over.is_none_or(|over| over <= now)
    }
}

impl DemandLimits {
    pub(super) fn new() -> DemandLimits {
        DemandLimits {
            questions: QUESTIONS,
            orders: ORDERS,
            clients: HashMap::new(),
            refused: HashMap::new(),
        }
    }

    /// Counts a question about a name that clients of this network cause, unless the answer is known, or there are too many.
    pub(super) fn ask(
        &mut self,
        name: &str,
        client: Option<IpAddr>,
        now: Instant,
    ) -> Result<(), DemandRefusal> {
        if let Some(known) = self.refused.get(name).filter(|it| it.until > now) {
            return Err(known.refusal.clone());
        }
        let mut meter = *self.clients.get(&client).unwrap_or(&CLIENT_QUESTIONS);
        let has_room = meter.has_room(now) && self.questions.has_room(now);
        if !has_room || !self.has_place(client, now) {
            return Err(DemandRefusal::TooManyQuestions);
        }
        self.questions.count(now);
        meter.count(now);
        self.clients.insert(client, meter);
        Ok(())
    }

    /// Whether the questions of this network can be counted, and an answer remembered.
    fn has_place(&mut self, client: Option<IpAddr>, now: Instant) -> bool {
        if self.clients.len() >= ASKING_NETWORKS_LIMIT {
            self.clients.retain(|_, meter| !meter.is_idle(now));
        }
        if self.refused.len() >= REFUSED_NAMES_LIMIT {
            self.refused.retain(|_, refused| refused.until > now);
        }
        let is_counted =
            self.clients.len() < ASKING_NETWORKS_LIMIT || self.clients.contains_key(&client);
        is_counted && self.refused.len() < REFUSED_NAMES_LIMIT
    }

    /// Counts an order, unless there are too many.
    pub(super) fn order(&mut self, now: Instant) -> Result<(), DemandRefusal> {
        if !self.orders.has_room(now) {
            return Err(DemandRefusal::TooManyOrders);
        }
        self.orders.count(now);
        Ok(())
    }

    /// Remembers a refusal for this time.
    pub(super) fn remember(
        &mut self,
        name: &str,
        refusal: DemandRefusal,
        time: Duration,
        now: Instant,
    ) {
        let until = now + time;
        let refused = RememberedRefusal { refusal, until };
        self.refused.insert(name.to_owned(), refused);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn client(number: u32) -> IpAddr {
        Ipv4Addr::from_bits(number).into()
    }

    /// How many questions are let through of so many, each about another name.
    fn asked(
        limits: &mut DemandLimits,
        questions: u32,
        of: impl Fn(u32) -> u32,
        now: Instant,
    ) -> usize {
        let admitted = (0..questions).filter(|number| {
            let name = format!("a{number}.example");
            limits.ask(&name, Some(client(of(*number))), now).is_ok()
        });
        admitted.count()
    }

    #[test]
    fn random_names_from_one_network_cause_ten_questions_a_minute() {
        let (mut limits, now) = (DemandLimits::new(), Instant::now());
        assert_eq!(asked(&mut limits, 1000, |_| 1, now), 10);
        assert_eq!(asked(&mut limits, 1, |_| 2, now), 1);
        assert_eq!(asked(&mut limits, 1000, |_| 1, now + 6 * SECOND), 1);
        assert_eq!(asked(&mut limits, 1000, |_| 1, now + 66 * SECOND), 10);
    }

    #[test]
    fn random_names_from_everywhere_cause_ten_questions_a_second() {
        let (mut limits, now) = (DemandLimits::new(), Instant::now());
        assert_eq!(asked(&mut limits, 1000, |number| number, now), 50);
        let later = now + SECOND;
        assert_eq!(asked(&mut limits, 1000, |number| 5000 + number, later), 10);
    }

    #[test]
    fn what_is_remembered_has_a_bound() {
        let (mut limits, start) = (DemandLimits::new(), Instant::now());
        for second in 0..3600 {
            let now = start + second * SECOND;
            asked(&mut limits, 20, |number| second * 100 + number, now);
            for number in 0..10 {
                let name = format!("b{second}.{number}.example");
                limits.remember(&name, DemandRefusal::NotOwn, 60 * SECOND, now);
            }
        }
        assert!(limits.clients.len() <= ASKING_NETWORKS_LIMIT);
        assert!(limits.refused.len() <= REFUSED_NAMES_LIMIT + 10);
    }

    #[test]
    fn an_answer_is_remembered_for_its_time_and_asks_nobody() {
        let (mut limits, now) = (DemandLimits::new(), Instant::now());
        limits.remember("a0.example", DemandRefusal::NotOwn, 60 * SECOND, now);
        for seconds in 0..60 {
            let at = now + seconds * SECOND;
            let found = limits.ask("a0.example", Some(client(1)), at);
            assert_eq!(found, Err(DemandRefusal::NotOwn));
        }
        assert_eq!(asked(&mut limits, 11, |_| 1, now), 10);
        let found = limits.ask("a0.example", Some(client(2)), now + 60 * SECOND);
        assert_eq!(found, Ok(()));
    }

    #[test]
    fn an_application_that_owns_everything_causes_a_hundred_orders_an_hour() {
        let (mut limits, start) = (DemandLimits::new(), Instant::now());
        let ordered = (0..7200).filter(|second| limits.order(start + *second * SECOND).is_ok());
        let ordered = ordered.count();
        assert!((290..=300).contains(&ordered), "{ordered}");
    }
}
