# frozen_string_literal: true

require "test_helper"
require "zlib"

# Answers in content codings while they are being made, and what they cost others.
class HttpEncodeStreamTest < Support::IntegrationTest
  # crates/carat-coding/src/part/encoders.rs
  STREAMS_LIMIT = 64
  LINES = Support::EncodedBodies::LINES

  def test_compression_is_off_unless_asked_for
    response = serve(Support::EncodedBodies::APP).get("/bytes?2000", fields: accepting("gzip"))

    assert_equal [nil, nil, LINES[0, 2000]], [response["content-encoding"], response["vary"], response.body]
  end

  def test_each_piece_reaches_the_client_before_the_next_is_made
    server = start
    inflate = Zlib::Inflate.new(Zlib::MAX_WBITS + 16)
    client = ask(server, "GET", "/events", fields: accepting("gzip"))
    head = read_head(client)
    first = +""
    first << inflate.inflate(read_chunk(client)) until first.end_with?("\n\n")

    assert_equal ["gzip", "data: first\n\n"], [head["content-encoding"], first]
    server.gate.open
    assert_equal "data: second\n\n", inflate.inflate(read_chunks(client))
    assert_predicate inflate, :finished?
  end

  def test_events_come_at_once_in_every_coding
    server = start(threads: 3)
    clients = %w[gzip br zstd].to_h { |coding| [coding, ask(server, "GET", "/events", fields: accepting(coding))] }
    begun = clients.transform_values { |client| read_head(client) && read_chunk(client) }
    server.gate.open

    clients.each do |coding, client|
      assert_equal "data: first\n\ndata: second\n\n", decode(begun[coding] + read_chunks(client), coding), coding
    end
  end

  def test_others_are_answered_while_bodies_are_encoded_at_the_highest_level
    server = start(args: %w[--compress --brotli-level 11])
    slow = Array.new(24) { ask(server, "GET", "/bytes?120000", fields: accepting("br")) }
    other = server.connect
    20.times { assert_equal LINES[0, 10], other.get("/bytes?10", fields: accepting("br")).body }
    waiting = slow.reject { |client| client.socket.wait_readable(0) }

    refute_empty waiting
    assert_equal LINES[0, 120_000], decode(slow.last.read_response.body, "br")
  end

  def test_a_client_that_goes_leaves_its_encoder_to_the_next
    server = start(threads: STREAMS_LIMIT + 2)
    clients = Array.new(STREAMS_LIMIT) { ask(server, "GET", "/open", fields: accepting("gzip")) }
    codings = clients.map { |client| read_head(client)["content-encoding"] }
    plain = ask(server, "GET", "/open", fields: accepting("gzip"))

    assert_equal ["gzip"], codings.uniq
    assert_equal [nil, "Accept-Encoding"], read_head(plain).then { |head| [head["content-encoding"], head["vary"]] }
    clients.first.reset
    eventually { assert_equal "gzip", server.get("/each", fields: accepting("gzip"))["content-encoding"] }
  end

  def test_short_bodies_are_encoded_however_many_streams_there_are
    server = start(threads: STREAMS_LIMIT + 2)
    clients = Array.new(STREAMS_LIMIT) { ask(server, "GET", "/open", fields: accepting("gzip")) }
    clients.each { |client| read_head(client) }

    assert_equal "gzip", server.get("/bytes?100000", fields: accepting("gzip"))["content-encoding"]
  end

  def test_a_client_that_goes_in_the_middle_of_a_file_disturbs_nobody
    server = start
    %w[gzip br zstd].each do |coding|
      client = ask(server, "GET", "/large-file", fields: accepting(coding))
      client.read_exactly(1000)
      client.reset

      assert decode(server.get("/large-file", fields: accepting(coding)).body, coding) == LINES, coding
    end
    refute_match(/error/i, server.log)
  end

  def test_the_levels_are_options
    low = start(args: %w[--compress --gzip-level 1 --brotli-level 0 --zstd-level 1])
    high = start(args: %w[--compress --gzip-level 9 --brotli-level 11 --zstd-level 19])
    %w[gzip br zstd].each do |coding|
      sizes = [low, high].map { |server| server.get("/bytes?50000", fields: accepting(coding)).content_length }

      assert_operator sizes.first, :>, sizes.last, coding
    end
  end

  def test_the_least_size_is_an_option
    server = start(args: %w[--compress --compress-min-bytes 10])

    assert_equal [nil, "gzip"], [9, 10].map { |bytes|
      server.get("/bytes?#{bytes}", fields: accepting("gzip"))["content-encoding"]
    }
  end


  private

  # The head of an answer whose body is still to come.
  def read_head(client)
    client.read_response(head: true)
  end

  def start(threads: 1, args: %w[--compress])
    serve(Support::EncodedBodies::APP, workers: 1, threads: threads, args: args)
  end

  def accepting(coding)
    { "Accept-Encoding" => coding }
  end

  # The next chunk of a chunked body; empty when it was the last.
  def read_chunk(client)
    client.read_exactly(client.read_through("\r\n").to_i(16) + 2).delete_suffix("\r\n")
  end

  # All further chunks.
  def read_chunks(client)
    rest = +"".b
    until (chunk = read_chunk(client)).empty?
      rest << chunk
    end
    rest
  end

  def decode(...)
    Support::ContentCodings.decode(...)
  end
end
