use std::cell::{OnceCell, RefCell};
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use carat_exchange::{Call, Peer};
use carat_files::on_own_thread;
use carat_http::RequestDispatch;
use carat_settings::{AcmeAsk, AskedServer};
use carat_wire::Scheme;
use http::header::{HOST, USER_AGENT};
use http::{Request, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How long the application may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// How many questions the application has at a time. Further ones wait for their turn.
const OPEN_QUESTIONS: usize = 8;
/// The most bytes of an answer that are read.
const ANSWER_LIMIT: usize = 4096;
/// The length of `HTTP/1.1 200`.
const STATUS_LINE: usize = 12;
/// Answers that refuse the question, and so say nothing about the name: Rails answers 403 to a host that it does not
/// know, and limits of the number of requests answer 429.
const REFUSED_QUESTIONS: [StatusCode; 5] = [
    StatusCode::UNAUTHORIZED,
    StatusCode::FORBIDDEN,
    StatusCode::REQUEST_TIMEOUT,
    StatusCode::MISDIRECTED_REQUEST,
    StatusCode::TOO_MANY_REQUESTS,
];
/// The host that a question to the application of this server names, as that of `restart_check`.
const SELF: &str = "localhost";

/// What the application says about a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NameAnswer {
    /// The name is its own.
    Own,
    /// The name is not its own.
    NotOwn,
    /// The application gave no answer, for a reason.
    Unknown(Arc<str>),
}

impl NameAnswer {
    fn of(status: StatusCode) -> NameAnswer {
        if status.is_success() {
            NameAnswer::Own
        } else if status.is_client_error() && !REFUSED_QUESTIONS.contains(&status) {
            NameAnswer::NotOwn
        } else {
            NameAnswer::unknown(format!("the application answered {}", status.as_u16()))
        }
    }

    fn unknown(reason: impl Into<String>) -> NameAnswer {
        NameAnswer::Unknown(reason.into().into())
    }
}

/// Asks the application whether names are its own: the option `acme_ask`.
pub(super) struct Questions {
    ask: RefCell<Option<AcmeAsk>>,
    dispatch: OnceCell<Rc<RequestDispatch>>,
    open: Semaphore,
    /// Lets one lookup of the server's name run at a time: a name server that does not respond holds only one thread.
    lookups: Arc<Semaphore>,
}

impl Questions {
    pub(super) fn new(ask: Option<AcmeAsk>) -> Questions {
        Questions {
            ask: RefCell::new(ask),
            dispatch: OnceCell::new(),
            open: Semaphore::new(OPEN_QUESTIONS),
            lookups: Arc::new(Semaphore::new(1)),
        }
    }

    /// The application of this server can be asked from now on.
    pub(super) fn meet(&self, dispatch: &Rc<RequestDispatch>) {
        self.dispatch.get_or_init(|| Rc::clone(dispatch));
    }

    /// Asks as these settings say from now on.
    pub(super) fn adopt(&self, ask: Option<AcmeAsk>) {
        self.ask.replace(ask);
    }

    /// Asks about a name, which is that of a host. Returns within `ANSWER_TIMEOUT`.
    pub(super) async fn ask(&self, name: &str) -> NameAnswer {
        let Some(ask) = self.ask.borrow().clone() else {
            return NameAnswer::unknown("it is not set");
        };
        let target = target(&ask.target, name);
        let answer = async {
            // Nobody closes the semaphore.
            let _turn = self.open.acquire().await;
            match &ask.server {
                Some(server) => self.ask_server(server, &target).await,
                None => self.ask_application(&target).await,
            }
        };
        match timeout(ANSWER_TIMEOUT, answer).await {
            Ok(Ok(status)) => NameAnswer::of(status),
            Ok(Err(reason)) => NameAnswer::unknown(reason),
            Err(_) => {
                let seconds = ANSWER_TIMEOUT.as_secs();
                NameAnswer::unknown(format!("no answer within {seconds} s"))
            }
        }
    }

    /// Asks the application that this server runs, as a client over HTTPS would, so that it redirects nobody.
    async fn ask_application(&self, target: &str) -> Result<StatusCode, String> {
        let dispatch = self.dispatch.get().ok_or("the server has not started")?;
        let request = Request::get(target).header(HOST, SELF);
        let request = request.header(USER_AGENT, "carat acme_ask").body(());
        let (parts, ()) = request.map_err(|error| error.to_string())?.into_parts();
        let scheme = Scheme::Https;
        let mut peer = Peer::new("127.0.0.1".to_owned(), false, scheme.default_port(), None);
        peer.scheme = scheme;
        let mut call = Call::new(parts, Rc::new(peer), dispatch.account());
        call.is_from_part = true;
        let refused = |refusal: carat_exchange::Refusal| refusal.reason().to_owned();
        let reply = dispatch.dispatch(call).map_err(refused)?.await;
        Ok(reply.map_err(refused)?.response.status())
    }

    /// Asks another server by HTTP/1.1.
    async fn ask_server(&self, server: &AskedServer, target: &str) -> Result<StatusCode, String> {
        let exchanged = async {
            let mut socket = TcpStream::connect(&self.addresses(server).await?[..]).await?;
            socket.write_all(head(server, target).as_bytes()).await?;
            let mut answer = Vec::with_capacity(ANSWER_LIMIT);
            while answer.len() < STATUS_LINE && socket.read_buf(&mut answer).await? > 0 {}
            io::Result::Ok(answer)
        };
        let answer = exchanged.await.map_err(|error| error.to_string())?;
        status(&answer).ok_or_else(|| "the answer is not HTTP/1.1".to_owned())
    }

    async fn addresses(&self, server: &AskedServer) -> io::Result<Vec<SocketAddr>> {
        let (host, port) = (server.host.clone(), server.port);
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let lookup = Arc::clone(&self.lookups).acquire_owned().await;
        let found = on_own_thread(move || {
            let found = (host, port).to_socket_addrs().map(Iterator::collect);
            drop(lookup);
            found
        });
        found.await?
    }
}

/// The target of the question about a name. The letters of a host's name mean nothing in a query.
fn target(target: &str, name: &str) -> String {
    let separator = if target.contains('?') { '&' } else { '?' };
    format!("{target}{separator}domain={name}")
}

fn head(AskedServer { host, port }: &AskedServer, target: &str) -> String {
    let host = match host.parse() {
        Ok(IpAddr::V6(address)) => format!("[{address}]"),
        _ => host.clone(),
    };
    format!(
        "GET {target} HTTP/1.1\r\nhost: {host}:{port}\r\nuser-agent: carat acme_ask\r\naccept: */*\r\n\
         connection: close\r\n\r\n"
    )
}

/// The status of an answer that begins with these bytes.
fn status(answer: &[u8]) -> Option<StatusCode> {
    let code = answer.strip_prefix(b"HTTP/1.")?.get(1..5)?;
    StatusCode::from_bytes(code.strip_prefix(b" ")?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_success_is_a_yes_an_error_of_the_client_a_no_and_a_refused_question_no_answer() {
        let answer = |status: u16| NameAnswer::of(StatusCode::from_u16(status).expect("a status"));
        for status in [200, 204] {
            assert_eq!(answer(status), NameAnswer::Own, "{status}");
        }
        for status in [400, 404, 410, 422] {
            assert_eq!(answer(status), NameAnswer::NotOwn, "{status}");
        }
        for status in [101, 301, 308, 401, 403, 408, 421, 429, 500, 503] {
            let found = answer(status);
            assert!(matches!(found, NameAnswer::Unknown(_)), "{status}");
        }
    }

    #[test]
    fn only_http_is_an_answer() {
        let code = |answer: &str| status(answer.as_bytes()).map(|status| status.as_u16());
        assert_eq!(code("HTTP/1.1 200 OK\r\n"), Some(200));
        assert_eq!(code("HTTP/1.0 404"), Some(404));
        for wrong in ["", "HTTP/1.1 20", "HTTP/2 200 OK", "SSH-2.0-OpenSSH"] {
            assert_eq!(code(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_name_is_added_to_the_query() {
        assert_eq!(target("/own", "a.example"), "/own?domain=a.example");
        assert_eq!(
            target("/own?key=1", "a.example"),
            "/own?key=1&domain=a.example"
        );
    }
}
