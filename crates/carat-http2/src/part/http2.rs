use std::cell::RefCell;
use std::time::Duration;

use h2::Reason;
use h2::server::Builder;

use super::date_field::DateField;
use carat_exchange::Peer;
use carat_http::Failures;
use carat_log::Log;
use carat_settings::Settings;

/// Bytes of a body that a client may send before they are consumed.
pub(super) const UPLOAD_WINDOW: u32 = 128 * 1024;

/// The most open streams of a connection that begins while memory is short: the tables of h2 grow
/// with the streams, and never shrink.
const SHORT_STREAMS: u32 = 16;

/// The most requests that a client may cancel before this server has seen them.
const UNSEEN_RESETS_LIMIT: usize = 20;

/// The most streams that this server may have to reset, as long as the connection lasts, because of
/// what the client sent in them. The resets may wait for a client that does not read, so there is a
/// limit. It is high: behind a proxy, one client should not soon end the connection of all.
const STREAM_ERRORS_LIMIT: usize = 1000;

/// The most streams that are remembered after they were reset: frames for them may be under way.
const ENDED_STREAMS_LIMIT: usize = 50;
/// How long a stream is remembered after it was reset.
const ENDED_STREAMS_KEPT: Duration = Duration::from_secs(1);

/// The memory that small DATA frames may take, in addition to their bytes, before they are
/// consumed.
const SMALL_FRAMES_LIMIT: usize = 256 * 1024;

/// The most bytes of responses that wait for the socket of one connection.
pub(super) const UNSENT_LIMIT: usize = 128 * 1024;

/// The largest window of flow control.
const WINDOW_LIMIT: u32 = (1 << 31) - 1;

/// The state that all connections of HTTP/2 share.
pub(super) struct Http2 {
    builder: Builder,
    /// The limits of connections that begin while memory is short.
    short_builder: Builder,
    pub(super) date: DateField,
    failures: RefCell<Failures>,
    resets: RefCell<Failures>,
}

impl Http2 {
    pub(super) fn new(settings: &Settings) -> Http2 {
        Http2 {
            builder: builder(settings, settings.parts.http2.max_streams),
            short_builder: builder(
                settings,
                settings.parts.http2.max_streams.min(SHORT_STREAMS),
            ),
            date: DateField::default(),
            failures: RefCell::default(),
            resets: RefCell::default(),
        }
    }

    /// The limits of a new connection.
    pub(super) fn builder(&self, is_short: bool) -> &Builder {
        if is_short {
            &self.short_builder
        } else {
            &self.builder
        }
    }

    /// Counts a client whose connection was ended.
    pub(super) fn note_failure(&self, peer: &Peer, reason: String) {
        self.failures.borrow_mut().note(peer, reason);
    }

    /// Counts a stream that was reset, if the client is to blame. The codes with which
    /// `serve_stream` resets streams do not count.
    pub(super) fn note_reset(&self, peer: &Peer, reason: Reason) {
        let own = [Reason::NO_ERROR, Reason::INTERNAL_ERROR, Reason::CANCEL];
        if !own.contains(&reason) {
            let reason = reason.description().to_owned();
            self.resets.borrow_mut().note(peer, reason);
        }
    }

    /// Logs the failures since the last report.
    pub(super) fn report(&self, log: &Log) {
        self.failures.take().report("HTTP/2 connections ended", log);
        self.resets.take().report("HTTP/2 requests reset", log);
    }
}

/// The limits of the protocol. The window of the connection has room for the windows of all
/// streams, so that no stream waits because others do.
fn builder(settings: &Settings, streams: u32) -> Builder {
    let window = UPLOAD_WINDOW.saturating_mul(streams).min(WINDOW_LIMIT);
    let headers = u32::try_from(settings.max_header_bytes).unwrap_or(u32::MAX);
    let mut builder = Builder::new();
    builder
        .max_concurrent_streams(streams)
        .initial_window_size(UPLOAD_WINDOW)
        .initial_connection_window_size(window)
        .max_header_list_size(headers)
        .max_send_buffer_size(UNSENT_LIMIT)
        .max_pending_accept_reset_streams(UNSEEN_RESETS_LIMIT)
        .max_local_error_reset_streams(Some(STREAM_ERRORS_LIMIT))
        .max_concurrent_reset_streams(ENDED_STREAMS_LIMIT)
        .reset_stream_duration(ENDED_STREAMS_KEPT)
        .data_frame_budget(SMALL_FRAMES_LIMIT);
    if settings.max_tunnels != Some(0) {
        builder.enable_connect_protocol();
    }
    builder
}
