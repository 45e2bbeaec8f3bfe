# frozen_string_literal: true

require "json"
require "test_helper"

# Tunnels on each kind of connection, and what becomes of them when processes end.
class TunnelTest < Support::IntegrationTest
  include Support::ControlledServer

  CERTIFICATE = Support::TestCertificate.new("localhost", "127.0.0.1")
  # Repeats what comes. /self hangs on to the thread, or the fiber, of the request.
  APP = <<~'RUBY'
    echo = lambda do |io|
      loop { io.write(io.readpartial(65_536)) }
    rescue EOFError, SystemCallError
      io.close
      File.write("ended", "#{Process.pid}\n", mode: "a")
    end
    flood = lambda do |io|
      loop { io.write("x" * 65_536) }
    rescue SystemCallError => e
      File.write("ended", "#{e.class}\n", mode: "a")
    end
    run(lambda do |env|
      case env["PATH_INFO"]
      when "/flood" then [200, { "rack.hijack" => ->(io) { Thread.new { flood.call(io) } } }, []]
      when "/tunnel" then [200, { "rack.hijack" => ->(io) { Thread.new { echo.call(io) } } }, []]
      when "/fiber" then [200, { "rack.hijack" => ->(io) { Fiber.schedule { echo.call(io) } } }, []]
      when "/self" then [200, { "rack.hijack" => echo }, []]
      when "/child"
        io = env["rack.hijack"].call
        Process.detach(fork { sleep })
        io.write("HTTP/1.1 200 OK\r\n\r\n")
        [-1, {}, []]
      else [200, {}, ["#{env["rack.hijack?"]} #{Process.pid}"]]
      end
    end)
  RUBY

  def test_a_tunnel_on_a_unix_socket_and_over_tls
    server = serve_all
    clients = [server.connect(server.urls[0]), server.connect(server.urls[1]),
               Support::TlsClient.connect(server, trust: CERTIFICATE.certificate, nth: 1)]
    data = Random.new(1).bytes(3 * 1024 * 1024)
    clients.each do |client|
      client.request("GET", "/tunnel")
      assert_equal 200, read_head(client)
      writer = Thread.new { client.write(data) }
      assert client.read_exactly(data.bytesize) == data, client.class.name
      writer.join
      client.close
    end
    eventually { server.directory.read("ended").lines.size == 3 }
  end

  def test_no_more_tunnels_than_max_tunnels
    server = serve(APP, workers: 1, threads: 2, args: %w[--max-tunnels 1])
    first = server.connect.tap { |client| client.request("GET", "/tunnel") }
    assert_equal 200, read_head(first)
    second = server.get("/tunnel")
    assert_equal [503, "1", "too many tunnels are open\n"], [second.status, second["retry-after"], second.body]

    first.close
    eventually { server.directory.read("ended").to_s.lines.size == 2 }
    third = server.connect.tap { |client| client.request("GET", "/tunnel") }
    assert_equal 200, read_head(third)
  end

  def test_without_tunnels_the_application_is_offered_none
    server = serve(APP, workers: 1, threads: 1, args: %w[--max-tunnels 0])
    assert_match(/\Afalse /, server.get.body)
    assert_equal 500, server.get("/tunnel").status
    assert_match(/the connection cannot be taken over/, server.log)
  end

  def test_many_tunnels_are_served_by_fibers
    server = serve(APP, workers: 1, fibers: 4)
    clients = Array.new(40) { |index| open_tunnel(server, index.even? ? "/fiber" : "/tunnel") }
    long = Array.new(3) { open_tunnel(server, "/self") }
    [*clients, *long].each_with_index { |client, index| client.write("number #{index}".ljust(9, ".")) }

    [*clients, *long].each_with_index do |client, index|
      assert_equal "number #{index}".ljust(9, "."), client.read_exactly(9)
    end
    assert_equal 200, server.get.status
  end

  def test_a_tunnel_that_keeps_its_thread_does_not_time_out
    server = serve(APP, workers: 1, threads: 2, args: %w[--request-timeout 200ms])
    client = open_tunnel(server, "/self")
    3.times { server.get }
    eventually { client.write("x").read_exactly(1) == "x" && server.get.status == 200 }

    refute_match(/timed out/, server.log)
  end

  def test_a_client_that_never_reads_is_cut_off
    server = serve(APP, workers: 1, threads: 1, args: %w[--write-timeout 500ms])
    deaf = open_tunnel(server, "/flood")
    idle = open_tunnel(server, "/tunnel")

    assert_equal "Errno::EPIPE\n", eventually { server.directory.read("ended")[/.+\n/] }
    assert_equal "x", idle.write("x").read_exactly(1)
    deaf.close
  end

  def test_the_body_of_a_request_must_have_arrived
    server = serve(APP, workers: 1, threads: 1, args: %w[--request-body stream])
    asked, taken = %w[/ /tunnel].map do |path|
      server.connect.write("POST #{path} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc").read_response
    end

    assert_match(/\Afalse /, asked.body)
    assert_equal 500, taken.status
    assert_match(/\Atrue /, server.get.body)
  end

  def test_the_death_of_a_worker_ends_its_tunnels
    server = serve(APP, workers: 1, threads: 1)
    clients = %w[/tunnel /child].map { |path| open_tunnel(server, path) }
    Process.kill(:KILL, server.get.body.split.last.to_i)

    clients.each { |client| assert_equal "", client.read_to_end }
    assert_equal 200, server.get.status
  ensure
    server&.processes&.each { |pid| Process.kill(:KILL, pid) if pid != server.pid }
  end

  def test_a_worker_keeps_its_tunnels_for_a_while_when_it_is_replaced
    server = serve(APP, workers: 1, threads: 1, args: %w[--control-socket carat.sock --tunnel-timeout 3s])
    client = open_tunnel(server, "/tunnel")
    old = server.get.body
    restart = Thread.new { carat(server, "restart").last }
    eventually { server.get.body != old }
    assert_equal "still", client.write("still").read_exactly(5)

    assert_equal "", client.read_to_end
    assert_equal 0, restart.value
    eventually { server.workers.size == 1 && server.directory.read("ended").lines.size == 1 }
    refute_match(/ending worker|worker died/, server.log)
  end

  def test_a_stop_closes_tunnels_after_their_time
    server = serve(APP, workers: 1, threads: 1, args: %w[--tunnel-timeout 500ms])
    client = open_tunnel(server, "/tunnel")
    server.kill(:TERM)
    eventually { server.log.include?("stopping") }

    assert_equal "x", client.write("x").read_exactly(1)
    assert_equal "", client.read_to_end
    assert_predicate server.wait, :success?
    refute_match(/shutdown_timeout|signal=/, server.log)
  end

  def test_the_status_counts_tunnels_and_idle_workers_without_any_end_first
    server = serve(APP, workers: "1..3", threads: 1,
                        args: %w[--control-socket carat.sock --worker-idle-timeout 1s --tunnel-timeout 1h])
    assert_equal 0, carat(server, "scale", "2..3").last
    await_workers(server, 2)
    client = open_tunnel(server, "/tunnel")
    row = eventually { rows(server).find { |worker| worker["tunnels"] == 1 } }
    assert_equal 0, row["running"]
    assert_match(/^ *worker +gen .* tunnels /, carat(server, "status").first)
    assert_equal 0, carat(server, "scale", "1").last
    eventually { server.workers.size == 1 }

    assert_equal [row["pid"]], server.workers.values
    assert_equal "x", client.write("x").read_exactly(1)
  end

  private

  def serve_all
    serve(APP, workers: 1, threads: 1, files: CERTIFICATE.files,
               binds: ["tcp://127.0.0.1:0", "unix://tunnel.sock", "tls://127.0.0.1:0?cert=server.crt&key=server.key"])
  end

  def rows(server)
    status(server)["processes"]
  end

  # A client whose connection the application has.
  def open_tunnel(server, path)
    server.connect.tap { |client| client.request("GET", path) && assert_equal(200, read_head(client)) }
  end

  def read_head(client)
    client.read_through("\r\n\r\n")[/\AHTTP\/1\.1 (\d+)/, 1].to_i
  end
end
