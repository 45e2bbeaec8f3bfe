# frozen_string_literal: true

require_relative "../../native"
require_relative "cpu_load"

module Carat
  module Processes
    # Ruby's garbage collector, with the methods that FullMarks needs.
    class RubyMarks
      # The size of the heap: all `slots`, the slots in `use`, the `bytes` of its pages, and the bytes from `malloc`
      # since the last full collection.
      Size = Struct.new(:slots, :use, :bytes, :malloc, keyword_init: true)

      ALLOWED = { rgengc_allow_full_mark: true }.freeze
      FORBIDDEN = { rgengc_allow_full_mark: false }.freeze
      # A pool of slots with a smaller share of free slots may lack them after the next collection. This is twice the
      # share below which Ruby itself decides that slots are lacking (Launch::CollectorPolicy). Pools of a few pages do
      # not count.
      TIGHT_SHARE = 0.04
      POOL_SLOTS = 2000
      PAGE_BYTES = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE, 65_536)
      ASKED = %i[method capi stress].freeze
      private_constant :ALLOWED, :FORBIDDEN, :ASKED, :TIGHT_SHARE, :POOL_SLOTS, :PAGE_BYTES

      # Returns the reason, a String, why only Ruby can time full collections here; nil when Carat can. To be called
      # when the application has been loaded.
      def self.objection
        return "Ruby #{RUBY_VERSION} has no switch for them (3.4 has)" unless switch?
        return "the application has forbidden them (GC.config)" unless GC.config[:rgengc_allow_full_mark]
        return "the application has disabled the collector (GC.disable)" if new.disabled?

        "the application collects out of band (GC::OOB)" if defined?(GC::OOB)
      end

      # Returns the reason, a String, why Ruby alone times full collections in processes with this configuration; nil
      # when Carat does.
      def self.objection_to(configuration)
        return "gc is not \"frugal\"" unless configuration[:gc] == "frugal"

        names = configuration.collector_variables
        names.empty? ? objection : "#{names.join(", ")} in the environment"
      end

      def self.switch?
        GC.respond_to?(:config) && GC.config.key?(:rgengc_allow_full_mark) && GC.latest_gc_info.key?(:need_major_by)
      end
      private_class_method :switch?

      def initialize
        @load = CpuLoad.new
      end

      # Measures the load of this process.
      def note_load
        @load.note
      end

      # Makes Ruby call the method `marked` of the observer after marking; nil ends that. Returns false before Ruby 3.4.
      def watch(observer)
        Native.watch_marking(observer)
      end

      # Sets whether the observer is called after each marking, or only when a full collection is due or has run.
      def watch_closely(is_wanted)
        Native.watch_marking_closely(is_wanted)
      end

      # Tells the edge why a full collection is due, with a Symbol, and the load of this process; nil when none is any
      # more.
      def report_due(reason)
        Native.full_mark_due(reason, @load.percent)
      end

      # Tells the running requests for how many microseconds they have waited for a full collection. Tells the edge as
      # well why Ruby has run it, and why it did not wait (`haste`, a Symbol), unless the edge has ordered it: nil.
      def report_done(micros, haste)
        Native.full_mark_done(micros, GC.latest_gc_info(:major_by), haste)
      end

      # Whether code has asked for the last collection: Ruby or C, or `GC.stress`.
      def asked?
        ASKED.include?(GC.latest_gc_info(:gc_by))
      end

      # The number of collections.
      def collections
        GC.count
      end

      # Whether Ruby marks in steps at the moment, as it does in a full collection that nobody has asked for.
      def marking?
        GC.latest_gc_info(:state) == :marking
      end

      # The number of full collections.
      def full_collections
        GC.stat(:major_gc_count)
      end

      # The time of all collections.
      def nanoseconds
        GC.total_time
      end

      # Whether the application has disabled the collector.
      def disabled?
        disabled = GC.disable
        GC.enable unless disabled
        disabled
      end

      # Whether Ruby may run full collections by itself.
      def allowed?
        GC.config[:rgengc_allow_full_mark]
      end

      # Sweeps to the end, and allows Ruby's next collection to be a full one.
      def allow
        GC.config(ALLOWED)
      end

      # Sweeps to the end, and allows Ruby only minor collections.
      def forbid
        GC.config(FORBIDDEN)
      end

      # The reason, a Symbol, why Ruby's next collection would be a full one; nil if it would not be.
      def need
        GC.latest_gc_info(:need_major_by)
      end

      # Returns the Size of the heap.
      def size
        Size.new(slots: GC.stat(:heap_available_slots), use: GC.stat(:heap_live_slots),
                 bytes: GC.stat(:heap_eden_pages) * PAGE_BYTES, malloc: GC.stat(:oldmalloc_increase_bytes))
      end

      # How many slots are free in the pool that will lack them first, beyond `TIGHT_SHARE`; 0 or less where one may
      # lack them after the next collection. Empty pages, which belong to no pool yet, count for each. To be called
      # when sweeping has ended.
      def spare
        empty = GC.stat(:heap_empty_pages) * PAGE_BYTES
        pools = GC.stat_heap.each_value.select { |pool| pool[:heap_eden_slots] > POOL_SLOTS }
        pools.map do |pool|
          slots = pool[:heap_eden_slots]
          free = slots - (pool[:total_allocated_objects] - pool[:total_freed_objects]) + (empty / pool[:slot_size])
          (free - (slots * TIGHT_SHARE)).floor
        end.min || 0
      end

      # How many objects minor collections keep without looking at them.
      def old_objects
        GC.stat(:old_objects)
      end

      # Runs a full collection, and returns how long it took in microseconds.
      def collect
        start = now
        GC.start(full_mark: true, immediate_sweep: true)
        ((now - start) * 1_000_000).round
      end

      private

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
