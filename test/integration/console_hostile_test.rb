# frozen_string_literal: true

require "json"
require "socket"
require "test_helper"

# Clients of the control socket that want a console, and do not play by the rules.
class ConsoleHostileTest < Support::IntegrationTest
  include Support::ControlledServer

  UPGRADE = "POST /console HTTP/1.1\r\nHost: carat\r\nConnection: upgrade\r\nUpgrade: carat-console\r\n\r\n"
  CONSOLE = 50
  SIGNAL = 51
  FIRST_DESCRIPTOR = 0x80
  EVERYTHING = 1_000_000

  def test_orders_that_are_no_orders_are_refused_and_leave_no_descriptor
    server = start
    descriptors = Support::ProcessTree.descriptors(server.pid)
    order = "run\0000\0true"
    { [frame(CONSOLE, order), 1] => /malformed/, [frame(CONSOLE, order), 250] => /malformed/,
      [frame(CONSOLE, order), 0] => /malformed/, [frame(SIGNAL, "\x09\0\0\0"), 3] => /malformed/,
      [frame(250, ""), 3] => /malformed/, ["\xff" * 64, 3] => /too long|malformed/,
      [frame(CONSOLE, "x" * 200_000), 3] => /too long/,
      [[10_000_000, CONSOLE].pack("VC"), 3] => /too long|malformed/ }.each do |(bytes, count), words|
      assert_match(words, last_words(open_console(server).tap { |socket| pass(socket, bytes, [$stderr] * count) }))
    end
    eventually(message: "the descriptors") { Support::ProcessTree.descriptors(server.pid) <= descriptors }
    assert_equal ["worker"], roles(server) - %w[edge mold]
  end

  def test_orders_that_nobody_can_carry_out_end_their_process_only
    server = start
    ["run\0-1\0true", "run\0x\0true", "run\0001\0=\0true", "\0\0\0", "run\0000\0tr\0ue", "run\0009\0true", "run\0000",
     "run\0000\0", "\xff\xfe"].each do |order|
      socket = open_console(server)
      File.open(File::NULL, "r+") { |null| pass(socket, frame(CONSOLE | FIRST_DESCRIPTOR, order), [null] * 3) }

      assert_match(/\x34\x00[^\x00]|\x21/n, last_words(socket), order.inspect)
    end
    assert_equal server.mold, server.mold
    await_only_own(server)
  end

  def test_one_that_sends_signals_without_end_or_never_reads_does_not_stop_the_server
    server = start
    idle = open_console(server)
    busy = open_console(server)
    File.open(File::NULL, "r+") do |null|
      pass(busy, frame(CONSOLE | FIRST_DESCRIPTOR, "run\0000\0sleep\0001000"), [null] * 3)
    end
    eventually(message: "a console") { carat(server, "status").first.match?(/console .*running/) }
    sent = 0
    eventually(message: "a full socket, or many signals") { (sent += send_signals(busy)) > EVERYTHING }

    assert_equal 0, carat(server, "status").last
    [idle, busy].each(&:close)
    await_only_own(server)
  end

  def test_one_that_sends_nothing_is_left_after_a_while
    server = start
    socket = open_console(server)

    assert_equal "", last_words(socket)
  end

  private

  def start
    serve("run ->(_env) { [200, {}, []] }", args: CONTROL_SOCKET)
  end

  def open_console(server)
    socket = UNIXSocket.new(File.join(server.directory.path, "carat.sock"))
    socket.write(UPGRADE)
    assert_match(%r{\AHTTP/1\.1 101 }, socket.readpartial(1000))
    socket
  end

  def frame(kind, content) = [content.bytesize + 1, kind].pack("VC") + content.b

  def pass(socket, bytes, ios)
    rights = Socket::AncillaryData.unix_rights(*ios) if ios.any?
    sent = socket.sendmsg(bytes, 0, nil, *rights)
    socket.write(bytes.byteslice(sent..))
  rescue Errno::EPIPE
    nil # it has been refused already
  end

  # Sends SIGWINCH many times. Returns the number of bytes, a large one when the socket is full.
  def send_signals(socket)
    sent = socket.write_nonblock(frame(SIGNAL, [28].pack("V")) * 500, exception: false)
    sent.is_a?(Integer) ? sent : EVERYTHING + 1
  end

  # What the server says before it closes the connection.
  def last_words(socket)
    words = "".b
    loop { words << socket.readpartial(1000) }
  rescue EOFError, Errno::ECONNRESET
    words
  ensure
    socket.close
  end

  def roles(server)
    JSON.parse(carat(server, "memory", "--json").first).fetch("processes").map { |process| process["role"] }
  end

  # Waits until only the server's own processes are left.
  def await_only_own(server)
    eventually(message: "the end of consoles") { server.processes.size == 3 }
  end
end
