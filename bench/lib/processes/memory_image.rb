# frozen_string_literal: true

module Bench
  # What the memory of one process contains, from /proc/PID/mem.
  class MemoryImage
    def self.open(pid)
      File.open("/proc/#{pid}/mem", "rb") { |file| yield new(file) }
    end

    def initialize(file)
      @file = file
    end

    # The 64-bit words from this address on; nil where the process has nothing.
    def words(address, count)
      bytes = @file.pread(count * 8, address)
      bytes.unpack("Q*") if bytes.bytesize == count * 8
    rescue EOFError, SystemCallError, RangeError
      nil
    end
  end
end
