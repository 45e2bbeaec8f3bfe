# frozen_string_literal: true

require "socket"
require "test_helper"
require "support/rolling/haproxy"
require "support/rolling/load"
require "support/rolling/nginx"

# Each of three Carats behind a load balancer is stopped and started again while clients ask: no request fails.
class RollingStopTest < Support::IntegrationTest
  APP = 'run ->(env) { env["rack.input"]&.read; [200, {}, ["hello"]] }'
  # Longer than any test: the test ends it, so that no time has to be guessed.
  DELAY = %w[--drain-delay 1h --readiness-path /up].freeze

  def setup
    super
    @reserved = Array.new(3) { reserve }
    @carats = ports.map { |port| [port, start(port)] }.to_h
  end

  def teardown
    @reserved.each(&:close)
    @front&.destroy
    super
  end

  # HAProxy sends nothing to a server that says that it is not ready.
  def test_haproxy_loses_no_request
    roll(Support::Rolling::HAProxy) do |port|
      begin_stop(port)
      eventually(message: "#{port} to be down") { @front.count(port, "DOWN").positive? }
      restart(port)
      eventually(message: "#{port} to be up") { @front.count(port, "UP").positive? }
    end
  end

  # nginx closes its open connections because the responses say so, and does not find the server when it connects.
  def test_nginx_loses_no_request
    roll(Support::Rolling::Nginx) do |port|
      begin_stop(port)
      await_results
      eventually(message: "the end of open connections") { connections(port).zero? }
      restart(port)
    end
  end

  private

  # Connections that are established to a Carat (proc(5): local address, remote address, state).
  def connections(port)
    established = /\A *\d+: \h{8}:#{format("%04X", port)} \h{8}:\h{4} 01 /
    File.foreach("/proc/net/tcp").grep(established).size
  end

  def roll(kind)
    skip kind.obstacle if kind.obstacle
    @front = kind.new(ports).start
    @load = Support::Rolling::Load.new { Support::RawClient.tcp("127.0.0.1", @front.port) }
    ports.each do |port|
      await_results
      yield port
    end
    await_results
    @load.stop

    assert_equal [200], @load.results.uniq, @front.log.lines.grep_v(/^200 /).join
  end

  # Waits until many requests have been answered.
  def await_results
    before = @load.results.size
    eventually(message: "results") { @load.results.size > before + 50 }
  end

  def begin_stop(port)
    @carats[port].kill(:TERM)
    await_log(@carats[port], / draining /)
  end

  # Lets the stop go on, and starts another server in its place. A signal that comes at once is the same one.
  def restart(port)
    old = @carats[port]
    eventually(message: "the stop") { old.log.include?(" stopping ") || (old.kill(:TERM) && false) }

    assert_equal 0, old.wait.exitstatus
    @carats[port] = start(port)
  end

  def start(port)
    serve(APP, binds: ["tcp://127.0.0.1:#{port}"], args: DELAY)
  end

  def ports
    @reserved.map { |socket| socket.local_address.ip_port }
  end

  # A port that the kernel gives to nobody else. Carat may listen on it: neither socket minds (SO_REUSEADDR).
  def reserve
    socket = Socket.new(:INET, :STREAM)
    socket.setsockopt(:SOCKET, :REUSEADDR, true)
    socket.bind(Addrinfo.tcp("127.0.0.1", 0))
    socket
  end
end
