# frozen_string_literal: true

module Suite
  # A bound that is a constant rather than an option.
  #
  #   name, file, value   of the constant, as the file has them
  #   bounds              what is bounded
  #   answer              a status or what happens instead when it is exceeded
  #   test                `path: name` of its test; nil for those that test/integration/limits_test.rb drives
  NamedLimit = Struct.new(:name, :file, :value, :bounds, :answer, :test, keyword_init: true)

  # The constants that bound what clients, the application and other users of the machine make Carat hold or do.
  module NamedLimits
    GUARD = "crates/carat-guard/src"
    EDGE = "crates/carat-edge/src"
    LANE = "crates/carat-lane/src"
    private_constant :GUARD, :EDGE, :LANE

    TABLE = [
      NamedLimit.new(name: :BLANK_LINES_LIMIT, file: "#{GUARD}/request_line.rs", value: "2", answer: 400,
                     bounds: "blank lines before a request"),
      NamedLimit.new(name: :METHOD_LIMIT, file: "#{GUARD}/request_line.rs", value: "32", answer: 501,
                     bounds: "bytes of a method"),
      NamedLimit.new(name: :CHUNK_EXTENSIONS_LIMIT, file: "#{GUARD}/chunked.rs", value: "16 * 1024", answer: 400,
                     bounds: "bytes of chunk extensions in one body"),
      NamedLimit.new(name: :SIZE_DIGITS_LIMIT, file: "#{GUARD}/chunked.rs", value: "16", answer: 400,
                     bounds: "digits of a chunk's size"),
      NamedLimit.new(name: :CODINGS_LIMIT, file: "crates/carat-coding/src/codings.rs", value: "2", answer: 415,
                     bounds: "content codings of a request body"),
      NamedLimit.new(name: :WINDOW_LOG, file: "crates/carat-coding/src/decode/zstd.rs", value: "23", answer: 415,
                     bounds: "logarithm of the window of a zstd body: 8 MiB"),
      NamedLimit.new(name: :GZIP_MEMBERS_LIMIT, file: "crates/carat-coding/src/decode/inflate.rs",
                     value: "64 * 1024", answer: 413, bounds: "members of a gzip body"),
      NamedLimit.new(name: :BOUNDARY_LIMIT, file: "crates/carat-multipart/src/content_type.rs", value: "70",
                     answer: "the application parses the form", bounds: "bytes of a form's boundary",
                     test: "crates/carat-multipart/src/content_type.rs: whatever_leaves_a_doubt_has_none"),
      NamedLimit.new(name: :CONTENT_LIMIT, file: "crates/carat-static/src/recent_files.rs", value: "2 * 1024 * 1024",
                     answer: "files are read each time", bounds: "bytes of small files kept for one directory",
                     test: "crates/carat-static/src/recent_files.rs: all_that_is_kept_is_bounded"),
      NamedLimit.new(name: :RANGES_LIMIT, file: "crates/carat-fields/src/ranges.rs", value: "32",
                     answer: "200 with the whole file", bounds: "ranges of a request",
                     test: "test/integration/http_range_test.rb: test_too_many_ranges_get_the_whole"),
      NamedLimit.new(name: :ELEMENTS_LIMIT, file: "crates/carat-fields/src/forwarded_elements.rs", value: "32",
                     answer: "the last ones count", bounds: "elements of `Forwarded` of a trusted proxy",
                     test: "crates/carat-fields/src/forwarded/tests.rs: " \
                           "the_elements_of_the_nearest_proxies_are_kept"),
      NamedLimit.new(name: :PROXY_HEADER_LIMIT, file: "crates/carat-fields/src/proxy_protocol.rs", value: "4096",
                     answer: "close", bounds: "bytes of a PROXY header",
                     test: "crates/carat-fields/src/proxy_protocol/tests.rs: " \
                           "a_header_that_is_too_long_is_refused_before_it_arrives"),
      NamedLimit.new(name: :LINE_LIMIT, file: "crates/carat-fields/src/proxy_protocol/v1.rs", value: "107",
                     answer: "close", bounds: "bytes of a PROXY header of version 1",
                     test: "crates/carat-fields/src/proxy_protocol/tests.rs: " \
                           "a_line_that_is_not_exactly_right_is_refused"),
      NamedLimit.new(name: :AHEAD_LIMIT, file: "#{EDGE}/http/guarded.rs", value: "16 * 1024",
                     answer: "reading pauses", bounds: "bytes read of requests behind the current one",
                     test: "test/integration/http_pipelining_test.rb: " \
                           "test_more_than_is_read_ahead_arrives_complete_and_in_order"),
      NamedLimit.new(name: :UNSENT_LIMIT, file: "#{EDGE}/http/listener.rs", value: "64 * 1024",
                     answer: "writing pauses", bounds: "bytes that the kernel holds unsent for a client",
                     test: "test/integration/slow_reader_test.rb: test_little_is_held_for_a_client_that_does_not_read"),
      NamedLimit.new(name: :TUNNEL_BUFFER_LIMIT, file: "#{EDGE}/tunnel/direction.rs", value: "16 * 1024",
                     answer: "reading pauses", bounds: "bytes of one direction of a tunnel",
                     test: "#{EDGE}/tunnel/direction.rs: " \
                           "a_direction_keeps_at_most_its_limit_and_nothing_once_it_is_taken"),
      NamedLimit.new(name: :RUNNING_LIMIT, file: "#{EDGE}/http/handshakes.rs", value: "512",
                     answer: "one of the busiest address ends", bounds: "TLS handshakes in progress",
                     test: "#{EDGE}/http/handshakes.rs: one_handshake_too_many_ends_the_oldest_that_awaits_its_client"),
      NamedLimit.new(name: :STEPS_LIMIT, file: "#{EDGE}/http/handshake_thread.rs", value: "8",
                     answer: "waits", bounds: "steps of TLS handshakes that their thread has",
                     test: "#{EDGE}/http/handshake_thread.rs: " \
                           "the_thread_has_no_more_steps_than_the_limit_even_when_nobody_waits"),
      NamedLimit.new(name: :INCOMING_LIMIT, file: "#{EDGE}/tls/session.rs", value: "32 * 1024",
                     answer: "the connection ends", bounds: "bytes of TLS that are not decrypted",
                     test: "test/integration/tls_test.rb: test_a_hello_that_is_too_long_ends_its_connection"),
      NamedLimit.new(name: :CERTIFICATES_LIMIT, file: "#{EDGE}/tls/client_certificate.rs", value: "16 * 1024",
                     answer: "further ones are omitted", bounds: "bytes of a client's certificates for the application",
                     test: "#{EDGE}/tls/client_certificate.rs: certificates_beyond_the_limit_are_left_out"),
      NamedLimit.new(name: :OVERHEAD_LIMIT, file: "#{GUARD}/frames.rs", value: "1000",
                     answer: "the connection ends", bounds: "frames of HTTP/2 without a request or a body",
                     test: "test/integration/http2_hostile_test.rb: " \
                           "test_floods_of_frames_end_the_connection_that_makes_them"),
      NamedLimit.new(name: :RESETS_LIMIT, file: "#{EDGE}/http/h2/resets.rs", value: "200",
                     answer: "the connection ends", bounds: "requests that are reset, over HTTP/2",
                     test: "test/integration/http2_hostile_test.rb: " \
                           "test_requests_that_are_canceled_one_by_one_end_the_connection"),
      NamedLimit.new(name: :UNSEEN_RESETS_LIMIT, file: "#{EDGE}/http/http2.rs", value: "20",
                     answer: "the connection ends", bounds: "requests that are reset before they are read",
                     test: "test/integration/http2_hostile_test.rb: " \
                           "test_requests_that_are_canceled_at_once_end_the_connection"),
      NamedLimit.new(name: :STREAM_ERRORS_LIMIT, file: "#{EDGE}/http/http2.rs", value: "1000",
                     answer: "the connection ends", bounds: "streams that the server has to reset",
                     test: "test/integration/http2_hostile_test.rb: " \
                           "test_requests_that_the_server_has_to_reset_end_the_connection"),
      NamedLimit.new(name: :UNSENT_LIMIT, file: "#{EDGE}/http/http2.rs", value: "128 * 1024",
                     answer: "the streams wait", bounds: "bytes of responses that wait for an HTTP/2 connection",
                     test: "#{EDGE}/http/h2/unsent_bytes.rs: streams_wait_while_the_socket_takes_nothing"),
      NamedLimit.new(name: :QUEUE_LIMIT, file: "#{EDGE}/log_writer.rs", value: "1024 * 1024",
                     answer: "lines are dropped and counted", bounds: "bytes of log lines that wait",
                     test: "test/integration/log_pipe_test.rb: " \
                           "test_what_was_dropped_is_counted_when_the_log_is_read_again"),
      NamedLimit.new(name: :TEXT_LIMIT, file: "#{EDGE}/log_text.rs", value: "16 * 1024",
                     answer: "the middle is left out", bounds: "bytes of a text in a log line",
                     test: "test/integration/log_hostile_test.rb: test_every_line_of_a_json_log_is_an_object"),
      NamedLimit.new(name: :HEADER_LIMIT, file: "#{EDGE}/admin/serve.rs", value: "8 * 1024", answer: 431,
                     bounds: "bytes of headers on the control socket",
                     test: "test/integration/control_socket_test.rb: " \
                           "test_a_client_that_sends_too_much_or_nothing_is_in_nobodys_way"),
      NamedLimit.new(name: :CLIENT_LIMIT, file: "#{EDGE}/admin/serve.rs", value: "8", answer: "waits",
                     bounds: "connections to the control socket",
                     test: "test/integration/control_socket_test.rb: " \
                           "test_a_client_that_sends_too_much_or_nothing_is_in_nobodys_way"),
      NamedLimit.new(name: :HEADER_COUNT_LIMIT, file: "#{LANE}/head_encoder.rs", value: "1024", answer: 500,
                     bounds: "header fields of a response"),
      NamedLimit.new(name: :HEADERS_LIMIT, file: "#{LANE}/head_encoder.rs", value: "256 * 1024", answer: 500,
                     bounds: "bytes of the headers of a response",
                     test: "#{LANE}/head_encoder.rs: headers_have_a_limit_in_bytes_and_in_number"),
      NamedLimit.new(name: :NAME_LIMIT, file: "#{LANE}/head_encoder.rs", value: "1024", answer: 500,
                     bounds: "bytes of a header's name in a response"),
      NamedLimit.new(name: :HELD_LIMIT, file: "#{LANE}/session.rs", value: "16 * 1024 * 1024",
                     answer: "the lane ends; the edge sends less", bounds: "bytes of requests that wait in a worker",
                     test: "crates/carat-lane/tests/lane.rs: " \
                           "a_request_that_arrives_while_a_body_is_read_is_held_for_later"),
      NamedLimit.new(name: :RAW_HEAD_LIMIT, file: "#{EDGE}/http/h2/raw_head.rs", value: "16 * 1024",
                     answer: "the stream is reset",
                     bounds: "bytes of headers that an application writes into a tunnel of HTTP/2",
                     test: "test/integration/http2_tunnel_test.rb: " \
                           "test_a_response_of_the_application_that_is_none_resets_the_stream"),
      NamedLimit.new(name: :RAW_FIELDS_LIMIT, file: "#{EDGE}/http/h2/raw_head.rs", value: "100",
                     answer: "the stream is reset", bounds: "fields of those headers",
                     test: "#{EDGE}/http/h2/raw_head.rs: what_is_no_head_is_an_error"),
      NamedLimit.new(name: :SHORT_STREAM_WINDOW, file: "crates/carat-wire/src/stream.rs", value: "16 * 1024",
                     answer: "the sender waits",
                     bounds: "bytes of a streamed response at first, while `client_memory` is short",
                     test: "test/integration/http2_memory_test.rb: test_responses_that_nobody_reads_give_way"),
      NamedLimit.new(name: :STREAM_WINDOW, file: "crates/carat-wire/src/stream.rs", value: "256 * 1024",
                     answer: "the sender waits", bounds: "bytes of a streamed body between edge and worker",
                     test: "crates/carat-lane/tests/lane.rs: a_stream_waits_when_its_window_is_used_up"),
      NamedLimit.new(name: :FRAME_LIMIT, file: "crates/carat-wire/src/frame.rs", value: "8 * 1024 * 1024",
                     answer: "the lane ends", bounds: "bytes of a frame",
                     test: "crates/carat-link/src/inbox.rs: no_bytes_make_an_inbox_grow_beyond_one_frame")
    ].freeze
  end
end
