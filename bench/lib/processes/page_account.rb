# frozen_string_literal: true

module Bench
  # The pages that a worker has for itself: what they hold, and how they differ from those of its parent.
  class PageAccount
    # More differing words than these are no longer few.
    FEW = 4
    WORDS = Pagemap::PAGE_BYTES / 8

    # Bytes of pages that the parent does not have, that have the parent's content although something wrote to them,
    # that differ in a few words, and that differ in more.
    Tally = Struct.new(:added, :same, :few, :many) do
      def +(other) = self.class.new(*to_a.zip(other.to_a).map(&:sum))

      def sum = to_a.sum
    end

    # What the pages hold => Tally. Raises Errno::ENOENT or Errno::ESRCH when one of the processes has gone.
    def self.of(worker, parent)
      Pagemap.open(worker) do |mine|
        Pagemap.open(parent) do |theirs|
          MemoryImage.open(worker) do |image|
            MemoryImage.open(parent) { |original| new(mine, theirs, image, original).tallies }
          end
        end
      end
    end

    # mine, theirs: Pagemaps; image, original: MemoryImages of the same processes.
    def initialize(mine, theirs, image, original)
      @mine = mine
      @theirs = theirs
      @image = image
      @original = original
      @regions = mine.regions
      @heap = RubyHeap.new(image, @regions.reject(&:name))
    end

    # What the pages hold => Tally.
    def tallies
      @regions.each_with_object({}) do |region, found|
        own_pages(region).each do |address, present|
          owner = owner(region, address)
          found[owner] = found.fetch(owner) { Tally.new(0, 0, 0, 0) } + tally(address, present)
        end
      end
    end

    private

    # Pairs of an address and whether the parent has a page there.
    def own_pages(region)
      theirs = @theirs.entries(region.addresses)
      @mine.entries(region.addresses).each_with_index.filter_map do |entry, index|
        next unless entry.allbits?(Pagemap::EXCLUSIVE)

        [region.addresses.begin + (index * Pagemap::PAGE_BYTES), theirs[index].anybits?(Pagemap::PRESENT)]
      end
    end

    def owner(region, address)
      return "programs and libraries" if region.file
      return "the main thread's stack" if region.name == "[stack]"
      return "objects" if @heap.objects?(address)

      @heap.description?(address) ? "descriptions of heap pages" : "malloc, threads, and the rest"
    end

    def tally(address, present)
      kind = present ? difference(address) : :added
      Tally.new(*Tally.members.map { |member| member == kind ? Pagemap::PAGE_BYTES : 0 })
    end

    def difference(address)
      now, before = [@image, @original].map { |image| image.words(address, WORDS) }
      return :many if now.nil? || before.nil?

      differing = now.zip(before).count { |mine, theirs| mine != theirs }
      return :same if differing.zero?

      differing <= FEW ? :few : :many
    end
  end
end
