# frozen_string_literal: true

require "socket"
require "test_helper"

class BindTest < Support::IntegrationTest
  HELLO = 'run ->(_env) { [200, {}, ["hello"]] }'
  ANY_PORT = "tcp://127.0.0.1:0"
  UNIX = "unix://carat.sock"
  CROWD = 1500

  def test_every_bind_is_announced_in_its_order_and_answers
    server = serve(HELLO, binds: [ANY_PORT, UNIX, ANY_PORT])

    tcp, unix, other = server.urls
    [tcp, other].each { |url| assert_match %r{\Ahttp://127\.0\.0\.1:[1-9]\d*\z}, url }
    assert_equal "unix://#{socket(server)}", unix
    assert_equal %w[hello] * 3, bodies(server)
  end

  def test_standard_output_may_be_the_ready_descriptor
    server = server(app: HELLO, args: %w[--ready-fd 1])
    server.launch.close

    await_log(server, %r{^http://127\.0\.0\.1:\d+$})
  end

  def test_localhost_listens_on_all_its_addresses_with_one_port
    server = serve(HELLO, binds: ["tcp://localhost:0"])

    assert_equal 1, server.urls.map { |url| URI(url).port }.uniq.size
    assert_equal %w[hello], bodies(server).uniq
  end

  def test_ipv6_address
    skip "this machine has no ::1" if Socket.ip_address_list.none?(&:ipv6_loopback?)
    server = serve(HELLO, binds: ["tcp://[::1]:0"])

    assert_match %r{\Ahttp://\[::1\]:\d+\z}, server.urls.first
    assert_equal "hello", server.get.body
  end

  def test_a_star_listens_on_ipv4_and_where_there_is_ipv6_on_both
    server = serve('run ->(env) { [200, {}, [env["REMOTE_ADDR"]]] }', binds: ["tcp://*:0"])
    loopback = Socket.ip_address_list.select { |address| address.ipv4_loopback? || address.ipv6_loopback? }

    loopback.map(&:ip_address).each do |address|
      host = address.include?(":") ? "[#{address}]" : address
      assert_equal address, server.connect("http://#{host}:#{URI(server.urls.first).port}").get("/").body
    end
  end

  def test_unix_socket_has_the_mode_of_its_address
    server = serve(HELLO, binds: ["#{UNIX}?mode=0620"])

    assert_equal "hello", server.get.body
    assert_equal 0o620, File.stat(socket(server)).mode & 0o777
  end

  def test_unix_socket_goes_with_the_server
    server = serve(HELLO, binds: [UNIX])

    assert File.socket?(socket(server))
    server.stop
    refute_path_exists socket(server)
  end

  def test_unix_socket_goes_with_a_server_that_could_not_boot
    server = server(app: 'raise "no"', binds: [UNIX])

    assert_equal 1, server.run.exitstatus
    refute_path_exists socket(server)
  end

  def test_unix_socket_of_a_server_that_runs_is_left_to_it
    other = serve(HELLO, binds: [UNIX])
    server = server(app: HELLO, binds: ["unix://#{socket(other)}"])

    assert_equal 1, server.run.exitstatus
    assert_equal in_use("unix://#{socket(other)}"), server.log
    assert_equal "hello", other.get.body
  end

  def test_inherited_sockets_beside_others
    tcp = TCPServer.new("127.0.0.1", 0)
    path = File.join(Dir.tmpdir, "carat-#{Process.pid}.sock")
    unix = UNIXServer.new(path)
    server = serve(HELLO, binds: ["fd://8", ANY_PORT, "fd://5"], spawn: { 8 => tcp, 5 => unix })

    assert_equal "http://127.0.0.1:#{tcp.local_address.ip_port}", server.urls[0]
    assert_equal "unix://#{path}", server.urls[2]
    [tcp, unix].each(&:close)
    assert_equal %w[hello] * 3, bodies(server)
    server.stop
    assert_path_exists path, "it belongs to whoever passed it in"
  ensure
    File.unlink(path)
  end

  def test_port_in_use
    other = serve(HELLO)
    address = "tcp://127.0.0.1:#{other.port}"
    server = server(app: HELLO, binds: [ANY_PORT, address])

    assert_equal 1, server.run.exitstatus
    assert_equal in_use(address), server.log
    assert_equal "hello", other.get.body
  end

  # The kernel drops the first packet of a client that finds the backlog full; it comes again after a second.
  def test_clients_that_come_all_at_once_wait_in_the_backlog
    most = File.read("/proc/sys/net/core/somaxconn").to_i
    skip "net.core.somaxconn is #{most}" if most < CROWD
    server = serve(HELLO)
    server.kill(:STOP)
    clients = Array.new(CROWD) { server.connect }
    server.kill(:CONT)

    assert_equal "hello", clients.last.get.body
  ensure
    server&.kill(:CONT)
    clients&.each(&:close)
  end

  private

  # What each listener answers, in their order.
  def bodies(server)
    server.urls.map do |url|
      client = server.connect(url)
      client.get.body.tap { client.close }
    end
  end

  def socket(server)
    File.join(server.directory.path, "carat.sock")
  end

  def in_use(address)
    "carat: #{address}: the address is in use: stop the other server or choose another with --bind\n"
  end
end
