# frozen_string_literal: true

require "test_helper"
require "socket"

module Scheduler
  # The hooks that move bytes, called as Ruby calls them, and their results.
  class BytesTest < Support::SchedulerTest
    also_under_stress

    Warning[:experimental] = false # IO::Buffer
    # Whether hooks take the offset before the length, and move in one attempt what they can.
    ONE_ATTEMPT = IO::Buffer.const_defined?(:VERSION) && IO::Buffer::VERSION >= 3

    def test_io_read_returns_how_many_bytes_there_were
      reader, writer = IO.pipe
      writer.write("abc")
      assert_equal [3, "abc"], read(reader, 8, 0)
    end

    def test_io_read_returns_zero_at_the_end
      reader, writer = IO.pipe
      writer.close
      assert_equal [0, ""], read(reader, 8, 0)
      assert_equal [0, ""], read(reader, 8, 4)
    end

    def test_io_read_with_length_zero_does_not_wait
      reader, @writer = IO.pipe
      assert_equal(-Errno::EAGAIN::Errno, read(reader, 8, 0)[0])
    end

    def test_io_read_waits_for_as_many_bytes_as_it_is_asked_for
      skip_one_attempt
      reader, writer = IO.pipe
      got = fibers do
        go { %w[ab cd ef].each { |piece| writer.write(piece) && sleep(0) } }
        call_read(reader, 8, 5)
      end
      assert_equal [6, "abcdef"], got
    end

    def test_io_read_returns_what_there_is_before_the_end
      reader, writer = IO.pipe
      got = fibers do
        go { writer.write("ab") && sleep(0) && writer.close }
        call_read(reader, 8, 8)
      end
      assert_equal [2, "ab"], got
    end

    def test_io_read_into_the_middle_of_a_buffer
      reader, writer = IO.pipe
      writer.write("abcdef")
      buffer = buffer_of("12345678")
      assert_equal(4, fibers { move(:io_read, reader, buffer, 0, 4) })
      assert_equal "1234abcd", buffer.get_string
    end

    def test_io_read_into_no_room_reads_nothing
      reader, writer = IO.pipe
      writer.write("abc")
      assert_equal(0, fibers { move(:io_read, reader, buffer_of("12"), 0, 2) })
    end

    def test_io_read_returns_the_negative_errno
      near, far = tcp_pair
      far.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii"))
      far.close
      assert_equal(-Errno::ECONNRESET::Errno, read(near, 8, 1)[0])
      _, writer = IO.pipe
      assert_equal(-Errno::EBADF::Errno, read(writer, 8, 1)[0])
    end

    def test_io_write_returns_how_many_bytes_went
      reader, writer = IO.pipe
      assert_equal(3, fibers { move(:io_write, writer, buffer_of("abc"), 0) })
      assert_equal(2, fibers { move(:io_write, writer, buffer_of("abcd"), 2, 2) })
      assert_equal "abccd", reader.readpartial(9)
    end

    def test_io_write_with_length_zero_does_not_wait
      _reader, writer = IO.pipe.tap { |ends| fill(ends.last) }
      assert_equal(-Errno::EAGAIN::Errno, fibers { move(:io_write, writer, buffer_of("x"), 0) })
    end

    def test_io_write_waits_until_as_many_bytes_went_as_it_is_asked_for
      skip_one_attempt
      reader, writer = IO.pipe
      filled = fill(writer)
      read = nil
      fibers do
        go { read = reader.read(filled + 10) }
        assert_equal 10, move(:io_write, writer, buffer_of("x" * 10), 10)
      end
      assert_equal "x" * 10, read[-10..]
    end

    def test_io_write_returns_the_negative_errno
      reader, writer = IO.pipe
      reader.close
      fibers do
        assert_equal(-Errno::EPIPE::Errno, move(:io_write, writer, buffer_of("x"), 0))
        assert_equal(-Errno::EPIPE::Errno, move(:io_write, writer, buffer_of("x"), 1))
      end
    end

    def test_an_io_write_that_fails_later_returns_what_it_has_moved
      reader, writer = IO.pipe
      content = "x" * 1_000_000
      moved = fibers do
        go { sleep(0) && reader.close }
        move(:io_write, writer, buffer_of(content), content.bytesize)
      end
      assert_includes 1...content.bytesize, moved
    end

    def test_io_pread_returns_bytes_or_zero_or_the_negative_errno
      reader, @writer = IO.pipe
      with_file("abcdef") do |file|
        assert_equal [3, "def"], pread(file, 8, 3)
        assert_equal [0, ""], pread(file, 8, 6)
        assert_equal "abcdef", file.read
        assert_raises(Errno::EINVAL) { fibers { file.pread(1, -1) } }
        assert_equal(-Errno::ESPIPE::Errno, pread(reader, 8, 0)[0])
      end
    end

    def test_io_pwrite_exists_where_ruby_calls_it_with_its_lock
      if RUBY_VERSION >= "3.3"
        refute_respond_to Carat::Scheduler.new, :io_pwrite
      else
        with_file("abcdef") do |file|
          assert_equal(2, fibers { scheduler.io_pwrite(file, buffer_of("xy"), 2, 1) })
          assert_equal "axydef", file.read
        end
      end
    end

    def test_buffers_of_ruby_read_and_write_through_the_hooks
      reader, writer = IO.pipe
      buffer = buffer_of("abcd")
      four = ONE_ATTEMPT ? [0, 4] : [4]
      fibers do
        go { buffer.write(writer, *four) }
        assert_equal 4, IO::Buffer.new(4).read(reader, *four)
      end
      reader.close
      fibers { assert_equal(-Errno::EPIPE::Errno, buffer.write(writer, *four)) }
    end

    # Two bytes at the offset 6 or, from Ruby 4.1 on, six at the offset 2.
    def test_hooks_take_their_arguments_in_the_order_of_this_ruby
      skip "Ruby 3.1 has no offsets" if RUBY_VERSION < "3.2"
      outside, inside = [->(&block) { block.call }, method(:fibers)].map do |place|
        reader, writer = IO.pipe
        buffer = buffer_of("12345678")
        place.call { buffer.write(writer, 2, 6) }
        written = reader.readpartial(8)
        writer.write("abcdef")
        place.call { buffer.read(reader, 2, 6) }
        [written, buffer.get_string]
      end
      assert_equal outside, inside
    end

    def test_hooks_of_ruby_4_1_move_what_one_attempt_can
      reader, writer = IO.pipe
      buffer = buffer_of("12345678")
      fibers do
        assert_equal 3, scheduler.io_write_once(writer, buffer, 2, 3)
        assert_equal 2, scheduler.io_read_once(reader, buffer, 6, 2)
        assert_equal 1, scheduler.io_read_once(reader, buffer, 0, 4)
        assert_equal(-Errno::EAGAIN::Errno, scheduler.io_read_once(reader, buffer, 0, 4))
        assert_equal 0, scheduler.io_read_once(reader, buffer, 0, 0)
        with_file("abcdef") { |file| assert_equal 2, scheduler.io_pread_once(file, buffer, 3, 1, 2) }
      end
      assert_equal "5de45634", buffer.get_string
    end

    private

    def buffer_of(content)
      IO::Buffer.new(content.bytesize).tap { |buffer| copy(content, buffer) }
    end

    # Calls io_read or io_write as this Ruby does. Ruby 3.1 has no offset.
    def move(hook, io, buffer, length, offset = 0)
      arguments = [length, *(offset if RUBY_VERSION >= "3.2" || offset.positive?)]
      arguments = [offset, length.zero? ? buffer.size - offset : length] if ONE_ATTEMPT
      scheduler.public_send(hook, io, buffer, *arguments)
    end

    def skip_one_attempt
      skip "hooks of this Ruby make one attempt" if ONE_ATTEMPT
    end

    # Ruby 3.1 has another name for it.
    def copy(content, buffer)
      return buffer.set_string(content) if buffer.respond_to?(:set_string)

      buffer.copy(content, 0)
    end

    def read(io, size, length)
      fibers { call_read(io, size, length) }
    end

    def call_read(io, size, length)
      buffer = IO::Buffer.new(size)
      moved = move(:io_read, io, buffer, length)
      [moved, buffer.get_string(0, [moved, 0].max)]
    end

    def pread(io, size, from)
      buffer = IO::Buffer.new(size)
      arguments = RUBY_VERSION < "3.2" ? [0, from] : [from, 0, ONE_ATTEMPT ? size : 0]
      moved = fibers { scheduler.io_pread(io, buffer, *arguments) }
      [moved, buffer.get_string(0, [moved, 0].max)]
    end

    # Writes until the pipe is full. Returns how many bytes it took.
    def fill(writer)
      filled = 0
      loop do
        written = writer.write_nonblock("." * 4096, exception: false)
        return filled if written == :wait_writable

        filled += written
      end
    end
  end
end
