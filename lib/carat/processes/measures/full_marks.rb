# frozen_string_literal: true

require_relative "ruby_marks"

module Carat
  module Processes
    # When a process may run full garbage collections, for which all its threads wait.
    #
    # Ruby decides that one is due, as ever. From then on it may run only minor ones, and grows the heap meanwhile,
    # until the edge has emptied the worker and orders one, or a bound is passed. See
    # docs/decisions/0016-room-for-garbage.md.
    class FullMarks
      # A collection that is due runs within requests when the heap has grown by this share of the slots in use, or by
      # so many: five of Ruby's steps. A worker that can be emptied grows by one or two until then, and all that is
      # added to one that cannot stays.
      SLOTS_SHARE = 0.25
      MOST_SLOTS = 100_000
      # The same for bytes from malloc: half of what Ruby itself lets them grow by before it collects.
      MALLOC_BYTES = 64 * 1024 * 1024

      class << self
        # Returns why full collections stay Ruby's in processes of this configuration, a String; nil if they do not.
        def objection(configuration)
          return "gc is not \"frugal\"" unless configuration[:gc] == "frugal"

          names = configuration.collector_variables
          names.empty? ? RubyMarks.objection : "#{names.join(", ")} in the environment"
        end

        # Begins in a worker, after the fork and the hooks. Returns the FullMarks, which only count where there is an
        # objection; nil where Ruby cannot tell: before 3.4.
        def begin(configuration, room)
          marks = new(manages: objection(configuration).nil?, room: room)
          marks if marks.watch
        end

        # As Carat.collect_if_due.
        def collect_if_due
          require_relative "../worker"
          return false if Worker.current

          @own ||= new(manages: RubyMarks.objection.nil?).tap(&:watch)
          @own.review
          @own.due? && @own.collect.positive?
        end
      end

      # `manages` is false where full collections stay Ruby's, and are only counted. `room` is a HeapRoom or nil, and
      # `ruby` answers what RubyMarks does.
      def initialize(manages: true, room: nil, ruby: RubyMarks.new)
        @ruby = ruby
        @room = room
        @state = manages ? :allowed : :left
      end

      # Begins. Returns false where Ruby cannot tell when it has marked: before 3.4.
      def watch
        note
        @ruby.watch_closely(@state != :left)
        @ruby.watch(self)
      end

      # Ends: full collections are Ruby's again, as in a mold.
      def leave
        @ruby.watch(nil)
        @ruby.allow unless @state == :left
        @state = :left
      end

      # Whether full collections wait for an order.
      def manages?
        @state != :left
      end

      # Whether one is due.
      def due?
        @state == :due
      end

      # Soon after Ruby has marked, in the middle of any request; also called for a collection that `collect` runs.
      def marked
        return if @collects
        return finish(ordered: false) if @ruby.full_collections != @full

        case @state
        when :allowed, :growing then settle if @ruby.collections != @collections
        when :due then begin_full if bound?
        end
      end

      # Between two requests, when the garbage collector has run.
      def review
        settle if @state == :allowed && @ruby.collections != @collections
        @nanoseconds = @ruby.nanoseconds
        @room&.review
      end

      # Runs a full collection, and returns how long it took in microseconds; 0 where full collections stay Ruby's. Call
      # it while the process serves nobody.
      def collect
        return 0 if @state == :left || @ruby.disabled?

        grows = due? && @need == :nofree && @ruby.size.slots <= @size.slots
        marking = @ruby.marking_milliseconds
        micros = run_full
        @room&.charge(@ruby.marking_milliseconds - marking)
        finish(ordered: true, micros: micros)
        grow if grows
        micros
      end

      private

      # Whether the heap has grown by a bound.
      def bound?
        now = @ruby.size
        slots = [@size.use * SLOTS_SHARE, MOST_SLOTS].min
        now.slots - @size.slots > slots || now.malloc - @size.malloc > MALLOC_BYTES
      end

      def run_full
        @collects = true
        @ruby.collect
      ensure
        @collects = false
      end

      def begin_full
        @state = :begun
        @ruby.begin_full
      end

      # The time of one that nobody has ordered is that of all collections since the request began.
      def finish(ordered:, micros: (@ruby.nanoseconds - @nanoseconds) / 1000)
        @ruby.report_done(micros, ordered)
        @ruby.report_due(false)
        note
        return if @state == :left

        @state = :allowed
        @ruby.allow
        @ruby.watch_closely(true)
      end

      # Ruby grows a heap that a full collection has found too small, but only if its slots had been used up. It does so
      # as well after the next collection while full ones are forbidden.
      def grow
        @state = :growing
        @ruby.forbid
      end

      # Only when it has swept does Ruby know whether it has found enough free slots. If not, its next collection is a
      # full one, which may begin within this request where there is little room.
      def settle
        @state = :allowed
        @ruby.allow
        note
        @need = @ruby.need
        @need ? await : @ruby.watch_closely(@ruby.tight?)
      end

      # Full collections are forbidden until the worker is ordered to run one.
      def await
        @ruby.forbid
        @size = @ruby.size
        @state = :due
        @ruby.watch_closely(true)
        @ruby.report_due(true)
      end

      def note
        @collections = @ruby.collections
        @full = @ruby.full_collections
        @nanoseconds = @ruby.nanoseconds
      end
    end
  end
end
