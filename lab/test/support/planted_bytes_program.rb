# frozen_string_literal: true

# A program that calls the application in ./config.ru without a server, and prints how many bytes a call adds for good.
# It knows nothing of Carat but its allocator, which has to be preloaded.
#
#   ruby planted_bytes_program.rb allocated|active FIRST LAST PATH ...   # from the first call to the last

require "fiddle"

# What jemalloc and Ruby's collector say of this process.
class PlantedBytes
  MALLCTL = Fiddle::Function.new(Fiddle.dlopen(nil)["mallctl"],
                                 ([Fiddle::TYPE_VOIDP] * 4) + [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_INT)
  WORD = 8
  COLLECTIONS = 3

  def initialize(application, measure, paths)
    @application = application
    @measure = measure
    @paths = paths
    @calls = 0
  end

  # Returns the bytes of an average call.
  def between(first, last)
    call(first)
    before = bytes
    call(last - first)
    (bytes - before).fdiv(last - first)
  end

  private

  def call(count)
    count.times { @application.call("PATH_INFO" => @paths[(@calls += 1) % @paths.size]) }
  end

  def bytes
    COLLECTIONS.times { GC.start }
    jemalloc("epoch", [1].pack("Q"))
    return jemalloc("stats.active") if @measure == "active"

    jemalloc("stats.allocated") + slots - mark_stack
  end

  def jemalloc(name, new = nil)
    value = "\0" * WORD
    status = MALLCTL.call(name, value, [WORD].pack("Q"), new, new ? WORD : 0)
    status.zero? ? value.unpack1("Q") : abort("mallctl #{name}: #{status}")
  end

  def slots
    return GC.stat(:heap_live_slots) * GC::INTERNAL_CONSTANTS.fetch(:RVALUE_SIZE) unless GC.respond_to?(:stat_heap)

    GC.stat_heap.sum do |_, heap|
      heap.fetch(:slot_size) * (heap.fetch(:total_allocated_objects) - heap.fetch(:total_freed_objects))
    end
  end

  # The collector keeps room for all that the largest container refers to.
  def mark_stack
    arrays = ObjectSpace.each_object(Array).map(&:size)
    hashes = ObjectSpace.each_object(Hash).map { |hash| hash.size * 2 }
    [*arrays, *hashes].max * WORD
  end
end

measure, first, last, *paths = ARGV
define_method(:run) do |application|
  puts PlantedBytes.new(application, measure, paths).between(Integer(first), Integer(last))
end
load("./config.ru")
