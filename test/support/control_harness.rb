# frozen_string_literal: true

require "socket"
require_relative "wire"

module Support
  # The edge's end of a control socket.
  class ControlHarness
    DEADLINE_SECONDS = 60

    # The other end, for a child process or a Native::Control.
    attr_reader :far

    def initialize
      @near, @far = UNIXSocket.pair
      @buffer = String.new
    end

    # Sends a frame, with IOs beside it.
    def send_frame(bytes, ios = [])
      rights = ios.empty? ? [] : [Socket::AncillaryData.unix_rights(*ios)]
      @near.sendmsg(bytes, 0, nil, *rights)
    end

    # The kind and payload of the next frame; [nil, nil] at the end of the stream.
    def frame
      size = 4
      until @buffer.bytesize >= size && (size = @buffer.unpack1("L<") + 4) <= @buffer.bytesize
        return [nil, nil] unless read_more
      end
      Wire.parse(@buffer.slice!(0, size))
    end

    # The payload of the next frame, which must be of this kind.
    def expect(kind)
      found, payload = frame
      raise "#{found.inspect} (#{payload}) came instead of #{kind.inspect}" unless found == kind

      payload
    end

    def close
      [@near, @far].each(&:close)
    end

    private

    def read_more
      raise "nothing came in #{DEADLINE_SECONDS} s" unless @near.wait_readable(DEADLINE_SECONDS)

      @buffer << @near.readpartial(65_536)
    rescue EOFError, Errno::ECONNRESET
      nil
    end
  end
end
