# frozen_string_literal: true

module Suite
  # A bound that is a constant rather than an option.
  #
  #   name, place   of the constant: the end of its file's path, which tells constants of one name apart
  #   bounds        what is bounded
  #   answer        a status or what happens instead when it is exceeded
  #   test          the name of its test; nil for those that test/integration/limits_test.rb drives
  NamedLimit = Struct.new(:name, :place, :bounds, :answer, :test) do
    # The value, as the source has it. Raises KeyError unless one file has such a constant.
    def value
      sources = NamedLimits.sources.select { |path, _text| path.end_with?(place) }
      found = sources.filter_map { |_path, text| text[/const #{name}: \w+ = (.+);/, 1] }
      found.size == 1 ? found.first : raise(KeyError, "#{name} in #{place}: #{found.size} constants")
    end
  end

  # The constants that bound what clients, the application and other users of the machine make Carat hold or do.
  module NamedLimits
    # The Rust code by path.
    def self.sources
      @sources ||= Dir[File.expand_path("../../crates/*/src/**/*.rs", __dir__)].to_h { |path| [path, File.read(path)] }
    end

    TABLE = [
      [:BLANK_LINES_LIMIT, "request_line.rs", "blank lines before a request", 400],
      [:METHOD_LIMIT, "request_line.rs", "bytes of a method", 501],
      [:CHUNK_EXTENSIONS_LIMIT, "chunked.rs", "bytes of chunk extensions in one body", 400],
      [:SIZE_DIGITS_LIMIT, "chunked.rs", "digits of a chunk's size", 400],
      [:CODINGS_LIMIT, "codings.rs", "content codings of a request body", 415],
      [:WINDOW_LOG, "zstd.rs", "logarithm of the window of a zstd body: 8 MiB", 415],
      [:GZIP_MEMBERS_LIMIT, "inflate.rs", "members of a gzip body", 413],
      [:BOUNDARY_LIMIT, "content_type.rs", "bytes of a form's boundary",
       "the application parses the form", "whatever_leaves_a_doubt_has_none"],
      [:CONTENT_LIMIT, "recent_files.rs", "bytes of small files kept for one directory",
       "files are read each time", "all_that_is_kept_is_bounded"],
      [:ENTRY_SHARE, "carat-cache/src/store.rs", "bytes of a response in the cache, as a part of it: one in so many",
       "it is not kept", "what_is_too_large_is_not_stored_and_evicts_nothing"],
      [:VARIANTS_LIMIT, "carat-cache/src/store.rs", "responses in the cache for one URL",
       "the one asked for least goes", "variants_of_a_url_have_a_bound_and_the_one_in_use_stays"],
      [:VARY_LIMIT, "selection.rs", "fields that a response in the cache names in Vary",
       "it is not kept", "a_response_that_names_too_much_is_not_stored"],
      [:PASSES_LIMIT, "pass_list.rs", "URLs that are known not to be kept",
       "the oldest is forgotten", "the_list_has_an_end"],
      [:GHOSTS_LIMIT, "queues.rs", "evicted responses that are remembered",
       "the oldest is forgotten", "what_is_remembered_of_evicted_responses_has_an_end"],
      [:CHANGES_LIMIT, "carat-cache/src/store.rs", "changed URLs that are remembered",
       "older responses are not kept", "a_response_that_was_asked_for_before_a_change_is_not_stored"],
      [:REFRESHES_LIMIT, "forward.rs", "stale responses that are fetched anew at once",
       "stale ones are sent without", "test_stale_pages_are_fetched_in_the_background_by_a_bounded_number"],
      [:RANGES_LIMIT, "ranges.rs", "ranges of a request",
       "200 with the whole file", "test_too_many_ranges_get_the_whole"],
      [:ELEMENTS_LIMIT, "forwarded_elements.rs", "elements of `Forwarded` of a trusted proxy",
       "the last ones count", "the_elements_of_the_nearest_proxies_are_kept"],
      [:PROXY_HEADER_LIMIT, "proxy_protocol.rs", "bytes of a PROXY header",
       "close", "a_header_that_is_too_long_is_refused_before_it_arrives"],
      [:LINE_LIMIT, "v1.rs", "bytes of a PROXY header of version 1",
       "close", "a_line_that_is_not_exactly_right_is_refused"],
      [:AHEAD_LIMIT, "guarded.rs", "bytes read of requests behind the current one",
       "reading pauses", "test_more_than_is_read_ahead_arrives_complete_and_in_order"],
      [:UNSENT_LIMIT, "listener.rs", "bytes that the kernel holds unsent for a client",
       "writing pauses", "test_little_is_held_for_a_client_that_does_not_read"],
      [:TUNNEL_BUFFER_LIMIT, "direction.rs", "bytes of one direction of a tunnel",
       "reading pauses", "a_direction_keeps_at_most_its_limit_and_nothing_once_it_is_taken"],
      [:MESSAGE_LIMIT, "cable/socket.rs", "bytes of a message of a client of the cable",
       "the socket is closed", "test_a_message_beyond_the_limit_closes_the_socket"],
      [:OUTBOX_LIMIT, "client_outbox.rs", "bytes that wait for a client of the cable",
       "the client is disconnected", "test_a_client_that_does_not_read_is_disconnected_and_the_others_are_served"],
      [:WHISPER_LIMIT, "client_outbox.rs", "bytes that wait for a client of the cable when another one whispers",
       "it misses the whisper", "a_whisper_reaches_the_others_unless_they_read_slowly"],
      [:STREAM_HISTORY_LIMIT, "broadcast_history.rs", "bytes kept of a stream of the cable, and sent again at once",
       "the oldest are forgotten; `reject_history`", "one_stream_has_a_bound_of_its_own"],
      [:KEPT_SESSIONS_LIMIT, "kept_sessions.rs", "bytes of the sessions of clients of the cable that are away",
       "those away for longest are over", "sessions_of_clients_that_are_away_are_bounded_and_the_oldest_are_over"],
      [:SESSION_NAME_LIMIT, "cable/handshake.rs", "bytes of the name of a session that a client of the cable asks for",
       "the session is unknown", "the_session_is_named_in_a_field_or_in_the_query"],
      [:SESSION_LIMIT, "cable_session.rs", "bytes of a client's subscriptions to the cable",
       "further ones are rejected", "what_is_kept_for_a_client_has_a_limit"],
      [:RECORD_LIMIT, "command_result.rs", "bytes of what the application keeps of a client or a subscription",
       "the command fails", "what_the_edge_keeps_has_a_limit"],
      [:RESULT_LIMIT, "cable/server.rs", "bytes of what the application makes of a command",
       "the command fails", "a_result_has_a_limit"],
      [:REQUESTS_LIMIT, "cable/server.rs", "handshakes and commands of the cable with the application at once",
       "waits", "test_no_more_commands_than_the_limit_are_with_the_application"],
      [:LINK_LIMIT, "handover/edge_link.rs", "bytes about the cable that wait for the other server during an upgrade",
       "it is given up; clients come back", "an_edge_that_does_not_read_is_given_up"],
      [:LEAVING_LIMIT, "handover/departures.rs", "the same, while sockets of the cable pass to it",
       "the next socket waits", "sockets_wait_while_much_waits_for_the_new_edge"],
      [:BROADCAST_LIMIT, "carat-wire/src/control.rs", "bytes of a broadcast",
       "refused", "a_broadcast_has_a_limit"],
      [:RUNNING_LIMIT, "handshakes.rs", "TLS handshakes in progress",
       "one of the busiest address ends", "one_handshake_too_many_ends_the_oldest_that_awaits_its_client"],
      [:STEPS_LIMIT, "handshake_thread.rs", "steps of TLS handshakes that their thread has",
       "waits", "the_thread_has_no_more_steps_than_the_limit_even_when_nobody_waits"],
      [:INCOMING_LIMIT, "carat-tls/src/session.rs", "bytes of TLS that are not decrypted",
       "the connection ends", "test_a_hello_that_is_too_long_ends_its_connection"],
      [:CERTIFICATES_LIMIT, "client_certificate.rs", "bytes of a client's certificates for the application",
       "further ones are omitted", "certificates_beyond_the_limit_are_left_out"],
      [:OVERHEAD_LIMIT, "frames.rs", "frames of HTTP/2 without a request or a body",
       "the connection ends", "test_floods_of_frames_end_the_connection_that_makes_them"],
      [:RESETS_LIMIT, "resets.rs", "requests that are reset, over HTTP/2",
       "the connection ends", "test_requests_that_are_canceled_one_by_one_end_the_connection"],
      [:UNSEEN_RESETS_LIMIT, "http2.rs", "requests that are reset before they are read",
       "the connection ends", "test_requests_that_are_canceled_at_once_end_the_connection"],
      [:STREAM_ERRORS_LIMIT, "http2.rs", "streams that the server has to reset",
       "the connection ends", "test_requests_that_the_server_has_to_reset_end_the_connection"],
      [:UNSENT_LIMIT, "http2.rs", "bytes of responses that wait for an HTTP/2 connection",
       "the streams wait", "streams_wait_while_the_socket_takes_nothing"],
      [:QUEUE_LIMIT, "log_writer.rs", "bytes of log lines that wait",
       "lines are dropped and counted", "test_what_was_dropped_is_counted_when_the_log_is_read_again"],
      [:TEXT_LIMIT, "log_text.rs", "bytes of a text in a log line",
       "the middle is left out", "test_every_line_of_a_json_log_is_an_object"],
      [:HEADER_LIMIT, "serve.rs", "bytes of headers on the control socket",
       431, "test_a_client_that_sends_too_much_or_nothing_is_in_nobodys_way"],
      [:CLIENT_LIMIT, "serve.rs", "connections to the control socket",
       "waits", "test_a_client_that_sends_too_much_or_nothing_is_in_nobodys_way"],
      [:CONSOLES_LIMIT, "consoles/mod.rs", "consoles and one-off commands at once",
       409, "test_their_number_is_bounded_and_other_subcommands_work_meanwhile"],
      [:CONSOLE_LIMIT, "carat-wire/src/control.rs", "bytes of a one-off command and its variables",
       "refused", "test_orders_that_are_no_orders_are_refused_and_leave_no_descriptor"],
      [:METRICS_HEADER_LIMIT, "listener.rs", "bytes of headers on the address of `metrics`",
       431, "test_scrapers_that_read_nothing_harm_nobody"],
      [:METRICS_CLIENT_LIMIT, "listener.rs", "connections to the address of `metrics`",
       "waits", "test_scrapers_that_read_nothing_harm_nobody"],
      [:SPAN_REQUEST_LIMIT, "span_queue.rs", "requests whose spans wait for the collector",
       "spans are dropped and counted", "spans_beyond_the_limit_are_dropped_and_counted"],
      [:SPAN_PATH_LIMIT, "finished_request.rs", "bytes of a path in a span",
       "the rest is left out", "a_text_is_cut_between_characters"],
      [:TRACESTATE_LIMIT, "trace_context.rs", "bytes of `tracestate` in a span",
       "it is left out", "a_state_that_is_too_long_is_left_out"],
      [:COLLECTOR_BODY_LIMIT, "collector_client.rs", "bytes of a collector's response",
       "the connection ends", "a_response_that_does_not_end_is_not_read_to_its_end"],
      [:HEADER_COUNT_LIMIT, "head_encoder.rs", "header fields of a response", 500],
      [:HEADERS_LIMIT, "head_encoder.rs", "bytes of the headers of a response",
       500, "headers_have_a_limit_in_bytes_and_in_number"],
      [:NAME_LIMIT, "head_encoder.rs", "bytes of a header's name in a response", 500],
      [:HELD_LIMIT, "lane/session.rs", "bytes of requests that wait in a worker",
       "the lane ends; the edge sends less", "a_request_that_arrives_while_a_body_is_read_is_held_for_later"],
      [:RAW_HEAD_LIMIT, "raw_head.rs", "bytes of headers that an application writes into a tunnel of HTTP/2",
       "the stream is reset", "test_a_response_of_the_application_that_is_none_resets_the_stream"],
      [:RAW_FIELDS_LIMIT, "raw_head.rs", "fields of those headers",
       "the stream is reset", "what_is_no_head_is_an_error"],
      [:SHORT_STREAM_WINDOW, "carat-wire/src/stream.rs",
       "bytes of a streamed response at first, while `client_memory` is short",
       "the sender waits", "test_responses_that_nobody_reads_give_way"],
      [:STREAM_WINDOW, "carat-wire/src/stream.rs", "bytes of a streamed body between edge and worker",
       "the sender waits", "a_stream_waits_when_its_window_is_used_up"],
      [:FRAME_LIMIT, "frame.rs", "bytes of a frame", "the lane ends", "no_bytes_make_an_inbox_grow_beyond_one_frame"]
    ].map { |row| NamedLimit.new(*row) }.freeze
  end
end
