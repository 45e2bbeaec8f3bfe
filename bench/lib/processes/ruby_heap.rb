# frozen_string_literal: true

module Bench
  # The pages of a process that hold Ruby's objects, and those that hold what describes them: mark bits, free slots.
  class RubyHeap
    BYTES = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE) { 16_384 }
    # struct heap_page ends with five sets of bits, one bit for each slot of 40 bytes.
    DESCRIPTION_BYTES = 64 + (5 * BYTES / 40 / 8)
    # The address of the first slot is among the first words of struct heap_page.
    DESCRIPTION_WORDS = 8
    HEADER_BYTES = 200

    # image: a MemoryImage; regions: those of a Pagemap that no file backs.
    def initialize(image, regions)
      @image = image
      @descriptions = {}
      found = regions.flat_map { |region| candidates(region.addresses) }.select { |page| heap?(page) }
      @pages = found.to_h { |page| [page, true] }
    end

    def objects?(address) = @pages.key?(address / BYTES * BYTES)

    def description?(address) = @descriptions.key?(address / Pagemap::PAGE_BYTES)

    private

    def candidates(addresses)
      first = (addresses.begin + BYTES - 1) / BYTES * BYTES
      first.step(addresses.end - BYTES, BYTES).to_a
    end

    # A page of the heap begins with the address of its description, which has the address of the page's first slot.
    def heap?(page)
      description = @image.words(page, 1)&.first
      return false if description.nil? || description.zero? || (description % 8).positive?

      words = @image.words(description, DESCRIPTION_WORDS)
      found = words&.any? { |word| word > page && word < page + HEADER_BYTES }
      describe(description) if found
      found
    end

    def describe(address)
      pages = [address, address + DESCRIPTION_BYTES].map { |edge| edge / Pagemap::PAGE_BYTES }
      Range.new(*pages).each { |page| @descriptions[page] = true }
    end
  end
end
