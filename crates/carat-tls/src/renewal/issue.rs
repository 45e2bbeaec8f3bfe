use std::collections::BTreeMap;
use std::future::pending;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::timeout;

use crate::acme::{AcmeClient, ClientMessage};
use crate::certificate_store::CertificateStore;
use crate::on_demand::{Demands, DueName};
use carat_log::Log;

/// The longest sleep between two looks at what is due. Another server with the same folder may have
/// done it, and clocks are set.
const SLEEP: Duration = Duration::from_secs(600);
/// How long the client may take for all names. It has a shorter deadline of its own, after which it
/// begins with no further name.
const RUN_TIMEOUT: Duration = Duration::from_secs(600);
/// How long to wait after a run of the client. The wait doubles, up to `PAUSE_LIMIT`, each time
/// that the client could not even try.
const PAUSE: Duration = Duration::from_secs(30);
/// The longest wait after a run of the client.
const PAUSE_LIMIT: Duration = Duration::from_secs(3600);

/// Runs the client whenever a certificate is due. Never returns.
pub(crate) async fn issue_certificates(
    stores: Vec<Arc<CertificateStore>>,
    client: Rc<AcmeClient>,
    demands: Rc<Demands>,
    log: Rc<Log>,
) -> io::Result<()> {
    let stores: Vec<_> = stores.into_iter().filter(|it| it.is_issued()).collect();
    if stores.is_empty() {
        pending::<()>().await;
    }
    let mut pause = PAUSE;
    CertificateStore::renew_all(&stores, &log).await?;
    loop {
        let names = match due(&stores, SystemTime::now()) {
            Ok(due) => demands.permitted(due).await?,
            Err(wait) => {
                wait_for(wait.min(SLEEP), &demands).await;
                continue;
            }
        };
        if names.is_empty() {
            // The application has not said whether the names are still its own.
            wait_for(PAUSE, &demands).await;
            continue;
        }
        let run = timeout(RUN_TIMEOUT, run(&client, &names, &stores, &log)).await;
        let run = run.unwrap_or_else(|_| Err(io::Error::other("the client took too long")));
        let was_able = run.unwrap_or_else(|error| {
            log.error("certificates not issued", &[("reason", &error)]);
            false
        });
        pause = if was_able {
            PAUSE
        } else {
            (pause * 2).min(PAUSE_LIMIT)
        };
        CertificateStore::renew_all(&stores, &log).await?;
        demands.settle(&names);
        wait_for(pause, &demands).await;
    }
}

/// Waits for this time, or until clients wait for a name that was ordered.
async fn wait_for(time: Duration, demands: &Demands) {
    // Either ends the wait.
    let _ = timeout(time, demands.ordered.notified()).await;
}

/// The names that are due, or the time until the first one is.
fn due(stores: &[Arc<CertificateStore>], now: SystemTime) -> Result<Vec<DueName>, Duration> {
    let mut names: BTreeMap<String, (Duration, bool)> = BTreeMap::new();
    for status in stores.iter().flat_map(|store| store.statuses()) {
        let wait = status.wait(now);
        let known = names.entry(status.name).or_insert((wait, true));
        // One listener may have a name in its address that others serve on demand.
        *known = (wait, known.1 && status.on_demand);
    }
    let first = names.values().map(|(wait, _)| *wait).min();
    if let Some(wait) = first.filter(|wait| !wait.is_zero()) {
        return Err(wait);
    }
    let due = names.into_iter().filter(|(_, (wait, _))| wait.is_zero());
    let due = due.map(|(name, (_, on_demand))| DueName { name, on_demand });
    let due: Vec<_> = due.collect();
    if due.is_empty() { Err(SLEEP) } else { Ok(due) }
}

/// Runs the client once. Returns whether it was able to try.
async fn run(
    client: &AcmeClient,
    names: &[String],
    stores: &[Arc<CertificateStore>],
    log: &Log,
) -> io::Result<bool> {
    let mut running = client.start(names)?;
    while let Some(message) = running.message().await? {
        // A certificate is served before the log says that it was issued.
        if let ClientMessage::Look | ClientMessage::Issued { .. } = message {
            CertificateStore::renew_all(stores, log).await?;
        }
        message.log(log);
        match message {
            ClientMessage::Look => running.confirm().await?,
            ClientMessage::Done => return Ok(true),
            ClientMessage::Unable { .. } => return Ok(false),
            ClientMessage::Issued { .. } | ClientMessage::Failed { .. } => {}
        }
    }
    Err(io::Error::other("the client has died"))
}
