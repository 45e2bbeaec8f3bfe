# frozen_string_literal: true

module Support
  module Chaos
    # A pipe that takes the log of a server to its file, unless nobody reads it for a while.
    class LogPipe
      READ_BYTES = 64 * 1024

      attr_reader :writer

      def initialize
        @reader, @writer = IO.pipe
        @reading = Mutex.new
      end

      # Copies to the file until all writers have closed.
      def copy_to(path)
        @writer.close
        @thread = Thread.new do
          File.open(path, "ab") do |file|
            while (bytes = read)
              file.syswrite(bytes) unless bytes == :wait_readable
            end
          end
        end
      end

      # Nobody reads while the block runs.
      def mute(&)
        @reading.synchronize(&)
      end

      # Returns when all has been copied and all writers have closed.
      def close
        @thread&.join
        @reader.close
      end

      private

      def read
        @reader.wait_readable
        @reading.synchronize { @reader.read_nonblock(READ_BYTES, exception: false) }
      end
    end
  end
end
