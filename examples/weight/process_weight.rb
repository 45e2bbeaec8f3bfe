# frozen_string_literal: true

# The memory of this process in KiB, as Linux reports it.
class ProcessWeight
  FIELDS = %w[Rss Pss Private_Clean Private_Dirty Shared_Clean Shared_Dirty].freeze

  def to_s
    lines = File.readlines("/proc/self/smaps_rollup").grep(/\A(#{FIELDS.join("|")}):/o)
    collector = GC.stat.slice(:count, :major_gc_count, :heap_live_slots, :heap_free_slots)
    [*lines, *collector.map { |name, figure| "#{name}: #{figure}\n" }].unshift("pid: #{Process.pid}\n").join
  end
end
