# frozen_string_literal: true

require "digest"
require "test_helper"

# What becomes of a request whose body is read while it arrives when workers die, are busy or take long.
class ProcessStreamTest < Support::IntegrationTest
  # Each request notes its arrival, a path below /gate waits for the gate, and then the body is read; /die reads a line
  # and kills its worker.
  APP = <<~'RUBY'
    require "digest"
    run(lambda do |env|
      path = env["PATH_INFO"]
      File.write("arrivals", "#{env["REQUEST_METHOD"]} #{path} #{Process.pid}\n", mode: "a")
      sleep 0.005 until !path.start_with?("/gate") || File.exist?("gate")
      if path == "/die"
        env["rack.input"].gets
        Process.kill(:KILL, Process.pid)
      end
      sum = Digest::SHA256.new
      buffer = String.new
      sum << buffer while env["rack.input"].read(65_536, buffer)
      [200, {}, [sum.hexdigest]]
    end)
  RUBY
  BODY = Random.new(5).bytes(1024 * 1024).freeze
  DIGEST = Digest::SHA256.hexdigest(BODY).freeze

  %w[GET POST].each do |verb|
    define_method("test_a_#{verb}_of_which_something_was_read_is_lost_with_its_worker_and_never_asked_again") do
      server = stream
      client = server.connect.write(head("/die", verb: verb)).write("a line\n")

      assert_refused 502, client
      assert_equal 1, server.gate.arrivals.size
      assert_equal DIGEST, server.request("POST", "/", body: BODY).body
    end
  end

  def test_a_get_of_which_nothing_was_read_is_asked_again_and_its_body_is_whole
    server = stream
    client = server.connect.write(head("/gate", verb: "GET"))
    Process.kill(:KILL, await_arrivals(server, 1).first.pid)
    await_arrivals(server, 2)
    server.gate.open

    assert_equal DIGEST, client.write(BODY).read_response.body
  end

  def test_a_request_that_waited_in_the_queue_gets_its_body
    server = stream
    first = server.connect.write(head("/gate"))
    await_arrivals(server, 1)
    second = server.connect.write(head("/second"))
    see_edge_go_round(server)
    server.gate.open

    assert_equal [DIGEST] * 2, ([first, second].map { |client| client.write(BODY).read_response.body })
  end

  def test_requests_sent_ahead_of_time_are_taken_back_and_keep_their_bodies
    server = stream(threads: 2)
    50.times { server.get("/quick") }
    clients = Array.new(6) { |place| server.connect.write(head(place.zero? ? "/gate" : "/#{place}")) }
    quick = clients.drop(1).map { |client| Thread.new { client.write(BODY).read_response.body } }
    assert_equal [DIGEST] * 5, quick.map(&:value)
    server.gate.open

    assert_equal DIGEST, clients.first.write(BODY).read_response.body
    assert_equal 56, server.gate.arrivals.size
  end

  def test_an_upload_may_take_longer_than_request_timeout
    server = stream(args: %w[--request-timeout 2])
    start = Support::Eventually.now
    client = server.connect.write(head("/"))
    await_arrivals(server, 1)
    eventually { Support::Eventually.now - start > 2.5 }

    assert_equal DIGEST, client.write(BODY).read_response.body
  end

  def test_an_application_that_does_not_read_on_is_stuck
    server = stream(args: %w[--request-timeout 2])
    client = server.connect.write(head("/gate"))

    assert_refused 504, client
  end

  def test_a_request_that_waits_too_long_for_a_worker_is_refused_without_its_body
    server = stream(fibers: nil, args: %w[--queue-timeout 1])
    server.connect.write(head("/gate"))
    await_arrivals(server, 1)

    assert_refused 503, server.connect.write(head("/"))
  end

  def test_a_request_that_finds_the_queue_full_is_refused_without_its_body
    server = stream(fibers: nil, args: %w[--queue-limit 1])
    server.connect.write(head("/gate"))
    await_arrivals(server, 1)
    server.connect.write(head("/waits"))
    see_edge_go_round(server)

    assert_refused 503, server.connect.write(head("/"))
  end

  # 256 KiB for the worker, one read of the edge, and what the kernel holds at both ends.
  def test_a_client_waits_for_an_application_that_does_not_read
    server = stream
    client = server.connect.write(head("/gate", length: 115 * 1024 * 1024))
    await_arrivals(server, 1)
    before = memory(server)
    taken = send_until_full(client)

    assert_operator taken, :<, 16 * 1024 * 1024
    memory(server).zip(before) { |now, then_| assert_operator now - then_, :<, 1024 }
  end

  def test_115_megabytes_are_read_in_flat_memory
    server = stream
    piece = BODY.byteslice(0, 64 * 1024)
    sum = Digest::SHA256.new
    2.times { server.request("POST", "/", body: BODY) }
    before = memory(server)
    client = server.connect.write(head("/", length: 1840 * piece.bytesize))
    most = [0, 0]
    1840.times do |place|
      client.write(piece)
      sum << piece
      most = most.zip(memory(server)).map(&:max) if (place % 50).zero?
    end

    assert_equal sum.hexdigest, client.read_response.body
    most.zip(before) { |now, then_| assert_operator now - then_, :<, 1024 }
  end

  private

  # The client does not send the rest of its body, so the response says that the connection ends.
  def assert_refused(status, client)
    response = client.read_response

    assert_equal [status, "close"], [response.status, response["connection"]]
  end

  def stream(threads: 1, args: [], **options)
    serve(APP, threads: threads, args: ["--request-body", "stream", *args], **options)
  end

  def head(path, verb: "POST", length: BODY.bytesize)
    "#{verb} #{path} HTTP/1.1\r\nHost: a\r\nContent-Length: #{length}\r\n\r\n"
  end

  # Sends until nothing more is taken for a while, and returns how many bytes were.
  def send_until_full(client)
    taken = 0
    loop { taken += 64 * 1024 if client.write("x" * (64 * 1024), within: 0.5) }
  rescue Support::Eventually::TooLate
    taken
  end
end
