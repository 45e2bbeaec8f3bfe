use std::collections::BTreeMap;
use std::future::pending;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::{sleep, timeout};

use crate::acme::{AcmeClient, ClientMessage};
use crate::certificate_store::CertificateStore;
use carat_files::on_own_thread;
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
    log: Rc<Log>,
) -> io::Result<()> {
    let stores: Vec<_> = stores.into_iter().filter(|it| it.is_issued()).collect();
    if stores.is_empty() {
        pending::<()>().await;
    }
    let mut pause = PAUSE;
    look(&stores, &log).await?;
    loop {
        let names = due(&stores, SystemTime::now());
        if let Err(wait) = names {
            sleep(wait.min(SLEEP)).await;
            continue;
        }
        let names = names.unwrap_or_default();
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
        look(&stores, &log).await?;
        sleep(pause).await;
    }
}

/// The names that are due, or the time until the first one is.
fn due(stores: &[Arc<CertificateStore>], now: SystemTime) -> Result<Vec<String>, Duration> {
    let statuses = stores.iter().flat_map(|store| store.statuses());
    let waits: BTreeMap<_, _> = statuses
        .map(|status| (status.wait(now), status.name))
        .map(|(wait, name)| (name, wait))
        .collect();
    let first = waits.values().min().copied().unwrap_or(SLEEP);
    if !first.is_zero() {
        return Err(first);
    }
    let due = waits.into_iter().filter(|(_, wait)| wait.is_zero());
    Ok(due.map(|(name, _)| name).collect())
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
            look(stores, log).await?;
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

/// Reads what the client has written.
async fn look(stores: &[Arc<CertificateStore>], log: &Log) -> io::Result<()> {
    for store in stores {
        let store = Arc::clone(store);
        for reason in on_own_thread(move || store.renew()).await?.failures {
            log.error("certificates not renewed", &[("reason", &reason)]);
        }
    }
    Ok(())
}
