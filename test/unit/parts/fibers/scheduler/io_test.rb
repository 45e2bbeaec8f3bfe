# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "socket"
require "openssl"
require "io/wait"
require "fcntl"

module Scheduler
  # Waiting for descriptors.
  class IoTest < Support::SchedulerTest
    also_under_stress

    KEY = OpenSSL::PKey::RSA.new(2048)

    def test_gets_and_readpartial_and_each_line_wait
      reader, writer = IO.pipe
      lines = fibers do
        go { "a\nb\nc\nd\n".each_char { |char| writer.write(char) && sleep(0) } && writer.close }
        [reader.gets, reader.readpartial(1), reader.each_line.to_a]
      end
      assert_equal "a\nb\nc\nd\n", lines.join
    end

    def test_a_tcp_server_answers_a_client_of_the_same_thread
      server = TCPServer.new("127.0.0.1", 0)
      answer = fibers do
        go { server.accept.then { |peer| peer.write(peer.gets.upcase) && peer.close } }
        client = TCPSocket.new("127.0.0.1", server.addr[1])
        client.puts("hello")
        client.read
      end
      assert_equal "HELLO\n", answer
    end

    def test_tls_shakes_hands_and_carries_data
      near, far = UNIXSocket.pair
      answer = fibers do
        server = OpenSSL::SSL::SSLSocket.new(far, server_context)
        go { server.accept.write(server.gets) && server.close }
        client = OpenSSL::SSL::SSLSocket.new(near).connect
        client.puts("secret")
        client.gets
      end
      assert_equal "secret\n", answer
    end

    def test_a_name_without_an_address_is_an_error
      fibers { assert_raises(SocketError) { TCPSocket.new("no.such.name.invalid", 1) } }
    end

    def test_wait_tells_which_events_came
      near, far = UNIXSocket.pair
      fibers do
        assert_equal near, near.wait_writable
        assert_nil near.wait_readable(0.001)
        go { far.write("x") }
        assert_equal near, near.wait_readable
      end
    end

    def test_an_io_has_a_timeout_of_its_own
      skip "IO#timeout came with Ruby 3.2" if RUBY_VERSION < "3.2"
      reader, @writer = IO.pipe
      reader.timeout = 0.001
      fibers { assert_raises(IO::TimeoutError) { reader.read(1) } }
    end

    def test_two_fibers_wait_for_one_io
      near, far = UNIXSocket.pair
      order = []
      fibers do
        2.times { go { order << near.readpartial(1) } }
        go { near.wait_writable && order << :writable }
        far.write("a")
        give_way_until { order.size == 2 }
        far.write("b")
      end
      assert_equal %w[a b], order - [:writable]
    end

    def test_a_number_that_is_used_again_wakes_no_stranger
      reader, writer = IO.pipe
      fibers do
        assert_nil reader.wait_readable(0.001)
        copy = reader.dup # the file stays open, and with it what epoll knows of it
        source, @other = IO.pipe
        number = reader.fileno
        unseen_close(reader)
        stranger = IO.for_fd(source.fcntl(Fcntl::F_DUPFD, number))
        assert_equal number, stranger.fileno
        go { writer.write("x") }
        assert_nil stranger.wait_readable(0.005)
        assert_equal "x", copy.read(1)
      end
    end

    def test_the_end_of_the_other_side_wakes_reader_and_writer
      near, far = UNIXSocket.pair
      fibers do
        go { assert_equal "", near.read }
        go { far.close }
      end
      fibers { assert_raises(Errno::EPIPE) { near.write("x") } }
    end

    private

    # Closes it as an extension does, without a Ruby method.
    def unseen_close(io)
      IO.instance_method(:close).super_method.bind_call(io)
    end

    def server_context
      certificate = OpenSSL::X509::Certificate.new
      certificate.public_key = KEY.public_key
      certificate.subject = certificate.issuer = OpenSSL::X509::Name.parse("/CN=carat")
      certificate.not_before = Time.now - 60
      certificate.not_after = Time.now + 3600
      certificate.sign(KEY, "SHA256")
      OpenSSL::SSL::SSLContext.new.tap { |context| context.cert, context.key = certificate, KEY }
    end
  end
end
