# frozen_string_literal: true

module Bench
  # The pages of one process, from /proc/PID/pagemap.
  class Pagemap
    PAGE_BYTES = 4096
    ENTRY_BYTES = 8
    # Bits of an entry: in memory or swapped out; in memory and of this process alone.
    PRESENT = (1 << 63) | (1 << 62)
    EXCLUSIVE = (1 << 63) | (1 << 56)

    # A mapping: the range of its addresses, whether a file backs it, and its name, such as a path or [stack], or nil.
    Region = Struct.new(:addresses, :file, :name)

    def self.open(pid)
      File.open("/proc/#{pid}/pagemap", "rb") { |file| yield new(pid, file) }
    end

    def self.region(line)
      addresses, _, _, _, _, path = line.chomp.split(" ", 6)
      first, last = addresses.split("-").map { |address| Integer(address, 16) }
      name = path unless path.to_s.empty?
      Region.new(first...last, name.to_s.start_with?("/"), name) unless name.to_s.start_with?("[v")
    end

    def initialize(pid, file)
      @pid = pid
      @file = file
    end

    # The mappings in which a process can have pages of its own.
    def regions = File.readlines("/proc/#{@pid}/maps").filter_map { |line| self.class.region(line) }

    # An Integer for each page of the range; 0 for a page that does not exist.
    def entries(addresses)
      count = addresses.size / PAGE_BYTES
      bytes = @file.pread(count * ENTRY_BYTES, addresses.begin / PAGE_BYTES * ENTRY_BYTES)
      bytes.unpack("Q*").then { |entries| entries + Array.new(count - entries.size, 0) }
    rescue EOFError
      Array.new(count, 0)
    end
  end
end
