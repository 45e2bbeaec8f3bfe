# frozen_string_literal: true

module Bench
  # Where the memory that a worker has for itself comes from, in bytes: pages which it had from its parent and wrote to,
  # pages that its parent does not have, and such pages of files (programs and libraries).
  PageOrigin = Struct.new(:written, :added, :files) do
    # Of the worker, whose parent this was; raises Errno::ENOENT or Errno::ESRCH when one of them has gone.
    def self.of(worker, parent)
      counts = Pagemap.open(worker) do |mine|
        Pagemap.open(parent) { |theirs| mine.regions.map { |region| count(region, mine, theirs) } }
      end
      new(*counts.transpose.map { |pages| pages.sum * Pagemap::PAGE_BYTES })
    end

    # [written, added, files] in pages.
    def self.count(region, mine, theirs)
      own = mine.entries(region.addresses)
      parent = theirs.entries(region.addresses)
      owned = own.each_index.select { |index| Pagemap.exclusive?(own[index]) }
      return [0, 0, owned.size] if region.file

      written = owned.count { |index| Pagemap.present?(parent[index]) }
      [written, owned.size - written, 0]
    end

    private_class_method :count
  end

  # The pages of one process, from /proc/PID/pagemap.
  class Pagemap
    PAGE_BYTES = 4096
    ENTRY_BYTES = 8
    PRESENT = 1 << 63
    SWAPPED = 1 << 62
    EXCLUSIVE = 1 << 56

    # A mapping: the range of its addresses, and whether it is one of a file.
    Region = Struct.new(:addresses, :file)

    def self.open(pid)
      File.open("/proc/#{pid}/pagemap", "rb") { |file| yield new(pid, file) }
    end

    def self.present?(entry)
      entry.anybits?(PRESENT | SWAPPED)
    end

    # Whether only this process has the page.
    def self.exclusive?(entry)
      entry.allbits?(PRESENT | EXCLUSIVE)
    end

    def initialize(pid, file)
      @pid = pid
      @file = file
    end

    # The mappings that a process can have pages of its own in.
    def regions
      File.readlines("/proc/#{@pid}/maps").filter_map { |line| self.class.region(line) }
    end

    def self.region(line)
      addresses, _, _, _, _, path = line.split(" ", 6)
      first, last = addresses.split("-").map { |address| Integer(address, 16) }
      Region.new(first...last, path.to_s.start_with?("/")) unless path.to_s.start_with?("[v")
    end

    # An Integer for each page of the range; 0 for those that there are not.
    def entries(addresses)
      count = addresses.size / PAGE_BYTES
      bytes = @file.pread(count * ENTRY_BYTES, addresses.begin / PAGE_BYTES * ENTRY_BYTES)
      bytes.unpack("Q*").then { |entries| entries + Array.new(count - entries.size, 0) }
    rescue EOFError
      Array.new(count, 0)
    end
  end
end
