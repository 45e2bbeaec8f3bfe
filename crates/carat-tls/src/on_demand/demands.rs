use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use carat_exchange::clock;
use carat_http::EdgeCore;
use carat_log::Log;
use carat_settings::AcmeAsk;
use tokio::sync::{Notify, watch};
use tokio::task::spawn_local;

use super::demand_limits::DemandLimits;
use super::demand_refusal::DemandRefusal;
use super::question::{NameAnswer, Questions};
use crate::acme::FurtherNames;
use crate::certificate_store::CertificateStore;

/// How long the application's no holds, and how long it holds that there are too many names or orders.
const REFUSAL_TIME: Duration = Duration::from_secs(60);
/// How long other refusals hold.
const SHORT_REFUSAL_TIME: Duration = Duration::from_secs(5);
/// The most renewals that are confirmed at a time. Clients that wait for a first certificate wait for those that are begun.
const RENEWALS_LIMIT: usize = 5;

/// Whether a name has a certificate, or why not.
type DemandOutcome = Result<(), DemandRefusal>;

/// The names without a certificate that clients ask for. Those that the application calls its own are ordered, and
/// served as long as it does.
pub(crate) struct Demands {
    further: FurtherNames,
    questions: Questions,
    /// The certificates of the listeners that serve all names of the application.
    stores: RefCell<Vec<Arc<CertificateStore>>>,
    limits: RefCell<DemandLimits>,
    open: RefCell<HashMap<String, OpenDemand>>,
    log: OnceCell<Rc<Log>>,
    /// Notified when a name was ordered.
    pub(crate) ordered: Notify,
}

/// A name that the application is asked about, or that the authority is.
struct OpenDemand {
    /// Whether the authority is asked for the certificate.
    is_ordered: Cell<bool>,
    outcome: watch::Sender<Option<DemandOutcome>>,
}

/// A name whose certificate is due.
pub(crate) struct DueName {
    pub(crate) name: String,
    /// Whether no address lists the name.
    pub(crate) on_demand: bool,
}

impl Demands {
    /// No demands yet. `further` are the names that have certificates.
    pub(crate) fn new(further: &FurtherNames, ask: Option<AcmeAsk>) -> Rc<Demands> {
        Rc::new(Demands {
            further: further.clone(),
            questions: Questions::new(ask),
            stores: RefCell::default(),
            limits: RefCell::new(DemandLimits::new()),
            open: RefCell::default(),
            log: OnceCell::new(),
            ordered: Notify::new(),
        })
    }

    /// Adds the certificates of a listener.
    pub(crate) fn add(&self, store: &Arc<CertificateStore>) {
        self.stores.borrow_mut().push(Arc::clone(store));
    }

    /// The server has started.
    pub(crate) fn begin(&self, core: &EdgeCore) {
        self.questions.meet(&core.dispatch);
        self.log.get_or_init(|| Rc::clone(&core.log));
    }

    /// Asks as these settings say from now on.
    pub(crate) fn adopt(&self, ask: Option<AcmeAsk>) {
        self.questions.adopt(ask);
    }

    /// Waits until a name has a certificate that a client of this network asks for. The demand goes on without the client.
    pub(crate) async fn meet(self: &Rc<Self>, name: &str, client: Option<IpAddr>) -> DemandOutcome {
        let mut outcome = self.outcome(name, client)?;
        let found = outcome.wait_for(Option::is_some).await;
        // The outcome comes before its sender goes.
        let found = found.ok().and_then(|found| found.clone());
        found.unwrap_or(Err(DemandRefusal::Late))
    }

    fn outcome(
        self: &Rc<Self>,
        name: &str,
        client: Option<IpAddr>,
    ) -> Result<watch::Receiver<Option<DemandOutcome>>, DemandRefusal> {
        let mut open = self.open.borrow_mut();
        if let Some(open) = open.get(name) {
            return Ok(open.outcome.subscribe());
        }
        let mut limits = self.limits.borrow_mut();
        limits.ask(name, client, clock::now())?;
        let (sender, receiver) = watch::channel(None);
        let demand = OpenDemand {
            is_ordered: Cell::new(false),
            outcome: sender,
        };
        open.insert(name.to_owned(), demand);
        let (demands, name) = (Rc::clone(self), name.to_owned());
        spawn_local(async move {
            if let Err(refusal) = demands.pursue(&name).await {
                let time = match refusal {
                    DemandRefusal::NotIssued => demands.time_until_due(&name),
                    DemandRefusal::NotOwn
                    | DemandRefusal::TooManyNames
                    | DemandRefusal::TooManyOrders => REFUSAL_TIME,
                    DemandRefusal::Unanswered(_)
                    | DemandRefusal::TooManyQuestions
                    | DemandRefusal::Late => SHORT_REFUSAL_TIME,
                };
                demands.refuse(&name, refusal, time);
            }
        });
        Ok(receiver)
    }

    /// Asks the application about a name, and has its certificate ordered if there is none.
    async fn pursue(&self, name: &str) -> DemandOutcome {
        match self.questions.ask(name).await {
            NameAnswer::Own => {}
            NameAnswer::NotOwn => return Err(DemandRefusal::NotOwn),
            NameAnswer::Unknown(reason) => return Err(DemandRefusal::Unanswered(reason)),
        }
        if !self.further.add(name) {
            return Err(DemandRefusal::TooManyNames);
        }
        // Another server with the same folder may have ordered the certificate.
        let looked = self.look().await;
        looked.map_err(|error| DemandRefusal::Unanswered(error.to_string().into()))?;
        if self.has(name) {
            self.end(name, Ok(()));
            return Ok(());
        }
        if !self.time_until_due(name).is_zero() {
            return Err(DemandRefusal::NotIssued);
        }
        self.limits.borrow_mut().order(clock::now())?;
        if let Some(open) = self.open.borrow().get(name) {
            open.is_ordered.set(true);
        }
        self.ordered.notify_one();
        Ok(())
    }

    /// The names of these whose certificates may be ordered: first those for which clients wait. Those that the application
    /// does not call its own any more are forgotten.
    pub(crate) async fn permitted(&self, due: Vec<DueName>) -> io::Result<Vec<String>> {
        let is_awaited = |due: &DueName| due.on_demand && self.is_ordered(&due.name);
        let (awaited, others): (Vec<_>, Vec<_>) = due.into_iter().partition(is_awaited);
        let (renewed, listed): (Vec<_>, Vec<_>) = others.into_iter().partition(|it| it.on_demand);
        let named = |due: Vec<DueName>| due.into_iter().map(|it| it.name);
        let mut permitted: Vec<_> = named(awaited).chain(named(listed)).collect();
        let renewed = named(renewed).filter(|name| self.has(name));
        let mut forgotten = Vec::new();
        for name in renewed.take(RENEWALS_LIMIT) {
            match self.questions.ask(&name).await {
                NameAnswer::Own => permitted.push(name),
                NameAnswer::NotOwn => {
                    self.further.forget(&name);
                    forgotten.push(name);
                }
                NameAnswer::Unknown(_) => break,
            }
        }
        if !forgotten.is_empty() {
            self.look().await?;
            self.log_given_up(&forgotten);
        }
        Ok(permitted)
    }

    fn log_given_up(&self, names: &[String]) {
        let Some(log) = self.log.get() else { return };
        let reason = DemandRefusal::NotOwn.to_string();
        for name in names {
            log.info(
                "certificate given up",
                &[("name", name), ("reason", &reason)],
            );
        }
    }

    /// Ends the demands for names that the client of the authority has tried.
    pub(crate) fn settle(&self, tried: &[String]) {
        for name in tried.iter().filter(|name| self.is_ordered(name)) {
            if self.has(name) {
                self.end(name, Ok(()));
            } else {
                let time = self.time_until_due(name);
                self.refuse(name, DemandRefusal::NotIssued, time);
            }
        }
    }

    fn refuse(&self, name: &str, refusal: DemandRefusal, time: Duration) {
        self.further.forget(name);
        let time = time.max(SHORT_REFUSAL_TIME);
        let mut limits = self.limits.borrow_mut();
        limits.remember(name, refusal.clone(), time, clock::now());
        self.end(name, Err(refusal));
    }

    fn end(&self, name: &str, outcome: DemandOutcome) {
        if let Some(open) = self.open.borrow_mut().remove(name) {
            open.outcome.send_replace(Some(outcome));
        }
    }

    fn is_ordered(&self, name: &str) -> bool {
        let open = self.open.borrow();
        open.get(name).is_some_and(|open| open.is_ordered.get())
    }

    fn has(&self, name: &str) -> bool {
        let stores = self.stores.borrow();
        stores.iter().all(|store| !store.lacks(name))
    }

    /// The time until the authority may be asked for a name again, after an attempt that failed.
    fn time_until_due(&self, name: &str) -> Duration {
        let stores = self.stores.borrow();
        let mut statuses = stores.iter().flat_map(|store| store.statuses());
        let status = statuses.find(|status| status.name == name);
        status.map_or(Duration::ZERO, |status| status.wait(SystemTime::now()))
    }

    /// Reads what is in the folder.
    async fn look(&self) -> io::Result<()> {
        let stores = self.stores.borrow().clone();
        match self.log.get() {
            Some(log) => CertificateStore::renew_all(&stores, log).await,
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use carat_settings::AskedServer;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::task::{JoinSet, LocalSet};

    use super::*;

    /// An application that answers each question with the next of these responses, and counts them.
    async fn application(answers: &'static [&'static str], asked: Rc<Cell<usize>>) -> AcmeAsk {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        spawn_local(async move {
            for answer in answers.iter().cycle() {
                let (mut client, _) = listener.accept().await.expect("a client");
                asked.set(asked.get() + 1);
                let mut question = [0; 1000];
                let read = client.read(&mut question).await.expect("a question");
                assert!(question[..read].starts_with(b"GET /own?domain=a"));
                client.write_all(answer.as_bytes()).await.expect("sent");
            }
        });
        AcmeAsk {
            server: Some(AskedServer {
                host: "127.0.0.1".to_owned(),
                port,
            }),
            target: "/own".to_owned(),
        }
    }

    /// Runs `test` with the demands of an application without listeners: each name has a certificate once it is its own.
    fn with_application(
        answers: &'static [&'static str],
        test: impl AsyncFnOnce(Rc<Demands>, Rc<Cell<usize>>),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        LocalSet::new().block_on(&runtime.expect("a runtime"), async {
            let asked = Rc::new(Cell::new(0));
            let ask = application(answers, Rc::clone(&asked)).await;
            test(Demands::new(&FurtherNames::default(), Some(ask)), asked).await;
        });
    }

    #[test]
    fn a_hundred_clients_that_ask_for_one_name_cause_one_question() {
        with_application(&["HTTP/1.1 404 No\r\n\r\n"], async |demands, asked| {
            let mut clients = JoinSet::new();
            for _ in 0..100 {
                let demands = Rc::clone(&demands);
                clients.spawn_local(async move { demands.meet("a.example", None).await });
            }
            while let Some(outcome) = clients.join_next().await {
                assert_eq!(outcome.expect("no panic"), Err(DemandRefusal::NotOwn));
            }
            let again = demands.meet("a.example", None).await;
            assert_eq!((again, asked.get()), (Err(DemandRefusal::NotOwn), 1));
            assert!(demands.open.borrow().is_empty() && demands.further.list().is_empty());
        });
    }

    #[test]
    fn a_name_that_is_not_its_own_any_more_is_forgotten_and_one_without_an_answer_is_not() {
        let answers = &[
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 500\r\n\r\n",
            "HTTP/1.1 410\r\n\r\n",
        ];
        with_application(answers, async |demands, _| {
            assert_eq!(demands.meet("a.example", None).await, Ok(()));
            assert_eq!(demands.further.list(), ["a.example"]);
            let due = || {
                vec![DueName {
                    name: "a.example".to_owned(),
                    on_demand: true,
                }]
            };
            for kept in [true, false] {
                let permitted = demands.permitted(due()).await.expect("asked");
                assert!(permitted.is_empty());
                assert_eq!(demands.further.list().is_empty(), !kept);
            }
        });
    }
}
