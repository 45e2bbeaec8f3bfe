# frozen_string_literal: true

module Bench
  # Where a worker's own memory comes from, in bytes: pages that it shared with its parent until one of them wrote,
  # pages that its parent does not have, and pages of files (programs and libraries).
  PageOrigin = Struct.new(:written, :added, :files) do
    # Raises Errno::ENOENT or Errno::ESRCH when one of them has gone.
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
      owned = own.each_index.select { |index| own[index].allbits?(Pagemap::EXCLUSIVE) }
      return [0, 0, owned.size] if region.file

      written = owned.count { |index| parent[index].anybits?(Pagemap::PRESENT) }
      [written, owned.size - written, 0]
    end

    private_class_method :count
  end
end
