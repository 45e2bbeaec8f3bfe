use std::rc::Rc;

use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::Request;
use http::header::CONTENT_LENGTH;

use crate::part::client::Http2Client;
use crate::part::http2::UPLOAD_WINDOW;
use crate::part::unsent_bytes::SentPiece;
use carat_exchange::{MemoryAccount, MemoryReservation};

/// Bytes of memory that a stream takes in addition to its bodies and the text of its headers: its task, its states, and
/// what the dispatcher keeps.
const STREAM_COST: usize = 5 * 1024;

/// The memory that each header field takes in addition to its bytes: its part of a table that doubles, and two blocks.
const FIELD_COST: usize = 192;

/// A request for whose stream there is memory.
pub(crate) struct AdmittedStream {
    pub(crate) request: Request<RecvStream>,
    pub(crate) sender: SendResponse<SentPiece>,
    /// Counts the memory that the stream takes.
    pub(crate) account: Rc<MemoryAccount>,
    /// The bytes that the client may send of a body, or into a tunnel, before they are read.
    pub(crate) window: MemoryReservation,
}

/// Reserves the memory that a request takes. The request is refused when memory is short, in a way
/// that lets the client repeat it (RFC 9113, section 8.7). The only request of its connection is
/// refused only when memory is used up.
pub(crate) fn admit(
    request: Request<RecvStream>,
    mut sender: SendResponse<SentPiece>,
    client: &Http2Client,
    is_only_one: bool,
) -> Option<AdmittedStream> {
    let memory = client.core.client_memory();
    let (own, window) = (STREAM_COST + head_bytes(&request), window_bytes(&request));
    let wanted = (own + window) as u64;
    let fits = memory.has_room(wanted) || is_only_one && memory.has_rest(wanted);
    if !fits {
        memory.refuse();
        sender.send_reset(Reason::REFUSED_STREAM);
        return None;
    }
    let account = memory.account();
    account.take(own as u64);
    let mut reserved = MemoryReservation::of(&account);
    reserved.grow(window);
    Some(AdmittedStream {
        request,
        sender,
        account,
        window: reserved,
    })
}

fn head_bytes(request: &Request<RecvStream>) -> usize {
    let fields = request.headers().iter();
    let fields = fields.map(|(name, value)| name.as_str().len() + value.len() + FIELD_COST);
    let target = request.uri().path_and_query();
    fields.sum::<usize>() + target.map_or(0, |target| target.as_str().len())
}

/// The bytes of a body that the client may send at once. A Content-Length that is no number is
/// refused later.
fn window_bytes(request: &Request<RecvStream>) -> usize {
    let window = UPLOAD_WINDOW as usize;
    if request.body().is_end_stream() {
        return 0;
    }
    let length = request.headers().get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    length.map_or(window, |length: usize| length.min(window))
}
