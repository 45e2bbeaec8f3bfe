use std::rc::Rc;
use std::time::Duration;

use http::header::{HOST, USER_AGENT};
use tokio::time::timeout;

use carat_dispatch::{Dispatcher, Lane};
use carat_exchange::{Call, MemoryAccount, Peer};

/// Sends each request of `restart_check` to a worker on trial. An error says which one failed, and how.
pub(crate) async fn check_worker(
    dispatcher: Rc<Dispatcher>,
    lane: Rc<Lane>,
    targets: Vec<String>,
    limit: Duration,
) -> Result<(), String> {
    for target in &targets {
        let failed = |how: String| format!("restart_check {target}: {how}");
        let memory = dispatcher.client_memory.account();
        let call = call(target, memory).map_err(|error| failed(error.to_string()))?;
        let reply = timeout(limit, dispatcher.try_on(&lane, call)).await;
        let reply = reply.map_err(|_| failed(format!("no response within {limit:?}")))?;
        let status = match reply {
            Ok(reply) => reply.response.status(),
            Err(refusal) => refusal.into_response().status(),
        };
        if !status.is_success() && !status.is_redirection() {
            return Err(failed(format!("responded with {}", status.as_u16())));
        }
    }
    Ok(())
}

fn call(target: &str, memory: Rc<MemoryAccount>) -> http::Result<Call> {
    let request = http::Request::builder().uri(target);
    let request = request.header(HOST, "localhost");
    let request = request.header(USER_AGENT, "carat restart_check").body(())?;
    let (parts, ()) = request.into_parts();
    let peer = Peer::new("127.0.0.1".to_owned(), false, 80, None);
    Ok(Call::new(parts, Rc::new(peer), memory))
}
