# frozen_string_literal: true

require "test_helper"

# Connections that the application takes over, with one thread that must not be kept by them.
class HijackTest < Support::SharedServerTest
  # What each path does with its socket; `partial` has the status and headers that Carat sends first.
  APP = <<~'RUBY'
    # Repeats lines, and says so when the client has ended.
    echo = lambda do |io|
      while (line = io.gets)
        io.write("echo #{line}")
      end
      io.write("bye")
    rescue SystemCallError, IOError => e
      $stderr.puts("the tunnel broke: #{e.class}")
    ensure
      io.close
      $stderr.puts("the tunnel ended")
    end
    raw = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n"
    threaded = ->(io) { Thread.new { echo.call(io) } }
    upgrade = { "upgrade" => "echo", "connection" => "upgrade" }
    full = {
      "/full" => ->(io) { io.write(raw) && threaded.call(io) },
      "/inline" => ->(io) { io.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello") && io.close },
      "/late" => ->(io) { Thread.new { io.gets && io.write(raw) && echo.call(io) } },
      "/raise" => ->(io) { io.write("#{raw}before") && io.close_write || raise("after the hijack") },
      "/class" => ->(io) { io.write([io.class, io.binmode?, io.gets.encoding].inspect) && io.close },
      "/flood" => lambda do |io|
        Thread.new do
          sent = 0
          sent += io.write_nonblock("x" * 65_536) while io.wait_writable(1)
          File.write("flooded", sent)
          io.close
        end
      end,
      "/half" => lambda do |io|
        io.write("all")
        io.close_write
        Thread.new { File.write("heard", io.read) && io.close }
      end
    }
    partial = {
      "/partial" => [200, { "x" => "1" }, ->(io) { io.write("body") && io.close }],
      "/switch" => [101, upgrade, threaded],
      "/unnamed" => [101, {}, threaded],
      "/raise-partial" => [200, {}, ->(io) { io.write("some") && raise("in the callable") }]
    }
    run(lambda do |env|
      path = env["PATH_INFO"]
      return [200, {}, [env.values_at("rack.hijack?", "HTTP_UPGRADE").inspect]] if path == "/ask"

      if (take = full[path])
        io = env["rack.hijack"].call
        raise "another socket" unless io.equal?(env["rack.hijack_io"]) && io.equal?(env["rack.hijack"].call)

        take.call(io)
        next [-1, {}, []]
      end
      if path == "/too-late"
        hijack = env["rack.hijack"]
        env["rack.response_finished"] << ->(*) { $stderr.puts((hijack.call rescue "refused: #{$!.class}").to_s) }
      end
      status, headers, callable = partial[path]
      next [101, upgrade, threaded] if path == "/streaming"
      next [200, {}, ["plain"]] unless status

      [status, headers.merge("rack.hijack" => callable), []]
    end)
  RUBY

  serves APP, args: %w[--access-log]

  UPGRADE = { "Connection" => "Upgrade", "Upgrade" => "echo" }.freeze

  def test_a_full_hijack_gets_what_the_client_sent_with_its_request
    client = connect.write("GET /full HTTP/1.1\r\nHost: a\r\n\r\nearly\nlater\n")

    assert_equal 101, client.read_response.status
    assert_equal "echo early\necho later\n", client.read_exactly(22)
    client.close_write
    assert_equal "bye", client.read_to_end
  end

  def test_sockets_do_not_keep_the_thread
    clients = Array.new(50) { connect.tap { |client| client.request("GET", "/full", fields: UPGRADE) } }
    clients.each { |client| assert_equal 101, client.read_response.status }
    assert_equal "plain", connect.get("/").body
    numbers = (100...150).to_a
    clients.zip(numbers) { |client, number| client.write("#{number}\n") }

    assert_equal numbers.map { |number| "echo #{number}\n" }, clients.map { |client| client.read_exactly(9) }
  end

  def test_a_partial_hijack_follows_the_headers
    response = ask(server, "GET", "/partial").read_response

    assert_equal [200, "1", "close", "body"], [response.status, response["x"], response["connection"], response.body]
  end

  def test_a_change_of_protocol_by_headers_or_by_a_streaming_body
    %w[/switch /streaming].each do |path|
      client = connect.tap { |it| it.request("GET", path, fields: UPGRADE) }
      response = client.read_response
      assert_equal [101, "echo", "upgrade"], [response.status, response["upgrade"], response["connection"]], path
      assert_equal "echo hello\n", client.write("hello\n").read_exactly(11)
    end
  end

  def test_a_protocol_that_nobody_asked_for_is_refused
    assert_equal 500, connect.get("/switch").status
    assert_equal 500, connect.get("/unnamed", fields: UPGRADE).status
    old = connect.write("GET /switch HTTP/1.0\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n")
    assert_equal 500, old.read_response.status
    eventually { log.scan("101 without a header upgrade").size == 3 }
  end

  def test_a_request_that_asks_in_vain_is_followed_by_the_next
    client = connect.write("GET /ask HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c, echo\r\n\r\n" \
                           "GET /second HTTP/1.1\r\nHost: a\r\n\r\n")

    assert_equal [true, "h2c, echo"].inspect, client.read_response.body
    assert_equal "plain", client.read_response.body
  end

  def test_a_response_before_it_reaches_the_client
    client = connect.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n" \
                           "POST /full HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcmore\n")

    assert_equal "plain", client.read_response.body
    assert_equal 101, client.read_response.status
    assert_equal "echo more\n", client.read_exactly(10)
  end

  def test_the_application_may_respond_within_the_request_or_much_later
    assert_equal "hello", connect.get("/inline").body
    client = connect.write("GET /late HTTP/1.0\r\n\r\n")
    assert_equal "plain", connect.get("/").body
    assert_equal 101, client.write("now\n").read_response.status
  end

  def test_the_socket_is_a_binary_unix_socket
    client = connect.write("GET /class HTTP/1.1\r\nHost: a\r\n\r\nline\n")

    assert_equal [UNIXSocket, true, Encoding::BINARY].inspect, client.read_to_end
  end

  def test_a_client_that_vanishes_ends_the_tunnel
    client = server.connect.tap { |it| it.request("GET", "/full", fields: UPGRADE) }
    client.read_response
    client.reset

    eventually { log.include?("the tunnel ended") }
  end

  def test_each_side_may_end_its_direction_alone
    client = connect.write("GET /half HTTP/1.1\r\nHost: a\r\n\r\n")

    assert_equal "all", client.read_to_end
    client.write("still there").close_write
    eventually { server.directory.read("heard") == "still there" }
  end

  def test_a_client_that_reads_nothing_holds_the_application_up
    client = connect.write("GET /flood HTTP/1.1\r\nHost: a\r\n\r\n")
    sent = Integer(eventually { server.directory.read("flooded")[/.+/] })

    assert_operator sent, :<, 16 * 1024 * 1024
    assert_equal sent, client.read_to_end.bytesize
  end

  def test_an_error_after_the_hijack_leaves_the_client_what_was_sent
    assert connect.get("/raise", fields: UPGRADE)
    assert_equal "some", connect.get("/raise-partial").body
    eventually { log.include?("after the hijack") && log.include?("in the callable") }
    assert_equal "plain", connect.get("/").body
  end

  def test_a_request_that_is_over_cannot_be_taken_over
    assert_equal "plain", connect.get("/too-late").body
    eventually { log.include?("refused: IOError") }
  end

  def test_the_access_log_has_the_status_and_the_bytes_at_the_end
    client = connect.tap { |it| it.request("GET", "/switch?logged", fields: UPGRADE) }
    client.read_response
    client.write("hello\n").read_exactly(11)
    client.close_write.read_to_end

    eventually { log.match?(%r{"GET /switch\?logged HTTP/1\.1" 101 14 }) }
    connect.get("/inline?logged")
    eventually { log.match?(%r{"GET /inline\?logged HTTP/1\.1" 200 \d+ }) }
  end
end
