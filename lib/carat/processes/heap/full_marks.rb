# frozen_string_literal: true

require_relative "growth_bound"
require_relative "haste"
require_relative "next_look"
require_relative "ruby_marks"

module Carat
  module Processes
    # The times at which a process may run full garbage collections, for which all its threads wait.
    #
    # Ruby still decides when a full collection is due. From then on Ruby may run only minor collections, and grows the
    # heap, until the edge has emptied the worker and orders the full collection, or the heap has grown by a bound. See
    # docs/decisions/0016-room-for-garbage.md.
    class FullMarks
      # The least slots in use for which full collections wait. With fewer, one takes some milliseconds, while finding
      # out whether one is due takes 3 MB: that needs a complete sweep, which leaves Ruby fewer pages to use again.
      LEAST_SLOTS = 200_000

      class << self
        # Does what Carat.collect_if_due promises.
        def collect_if_due
          require_relative "../worker"
          return false if Worker.current

          @own ||= new(manages: RubyMarks.objection.nil?).tap(&:watch)
          @own.review
          @own.due? && @own.collect.positive?
        end
      end

      # `manages` is false when Ruby alone times full collections, which are then only counted. `room` is a HeapRoom or
      # nil; `ruby` has the methods of RubyMarks.
      def initialize(manages: true, room: nil, ruby: RubyMarks.new)
        @ruby = ruby
        @room = room
        @state = manages ? :allowed : :left
      end

      # Begins to watch. Returns false before Ruby 3.4, which cannot tell when it has marked.
      def watch
        note
        @ruby.watch_closely(@state != :left)
        @ruby.watch(self)
      end

      # Ends. Ruby alone times full collections again, as in a mold.
      def leave
        @ruby.watch(nil)
        @ruby.report_due(nil) if due?
        @ruby.allow if forbids?
        @state = :left
      end

      # Whether full collections wait for an order of the edge.
      def manages? = @state != :left

      # Whether a full collection is due.
      def due? = @state == :due

      # Called soon after Ruby has marked, in the middle of any request, and also during a collection that `collect`
      # runs.
      def marked
        return if @collects
        return finish(ordered: false) if @ruby.full_collections != @full

        give_up if due? && @bound.exceeded?(@ruby.size)
        settle if %i[allowed growing].include?(@state) && @ruby.collections != @collections
      end

      # Called between two requests, when the garbage collector has run. Does nothing while Ruby marks in steps: what
      # follows would end the sweep, and mark the rest at once.
      def review
        @ruby.note_load
        return if @ruby.marking?

        settle if @state == :allowed && @ruby.collections != @collections && !@look&.early?
        note unless @ruby.full_collections != @full
        @room&.review
        await(:room) if @state == :allowed && @room&.eaten?
      end

      # Leaves the collection that is due to Ruby, because the edge has declined a rest. Where only the room wants one,
      # or Ruby does not need it any more, none follows.
      def decline
        return unless due?

        @room.postpone if @need == :room
        @state = @ruby.need ? :declined : :allowed
        @ruby.report_due(nil)
        @ruby.watch_closely(@state == :allowed)
        @ruby.allow
      end

      # Runs a full collection, and returns how long it took in microseconds, or 0 when Ruby alone times full
      # collections. To be called while the process serves nobody.
      def collect
        return 0 if @state == :left || @ruby.disabled?

        grows = due? && @need == :nofree && !@bound.grown?(@ruby.size)
        micros = run_full
        @room&.pass
        finish(ordered: true, micros: micros)
        grow if grows
        micros
      end

      private

      def run_full
        @collects = true
        @ruby.collect
      ensure
        @collects = false
      end

      # Leaves a collection that the edge has not ordered in time to Ruby, which marks in steps if it has known for a
      # collection that one is due. One that Carat began would mark all at once: longer than any step.
      def give_up
        @state = :given_up
        @ruby.allow
      end

      # Reports a full collection. Ruby does not tell how long one took that nobody ordered: `micros` is then the time
      # of all collections since the request began.
      def finish(ordered:, micros: (@ruby.nanoseconds - @nanoseconds) / 1000)
        haste = Haste.of(@state, asked: @ruby.asked?, small: small?)
        @ruby.report_due(nil)
        @ruby.report_done(micros, ordered ? nil : haste)
        return leave_to_ruby(:left) if forbidden?

        note
        return if @state == :left

        @ruby.allow if forbids?
        @state = :allowed
        @ruby.watch_closely(true)
      end

      # Makes Ruby grow the heap. After a full collection that has found the heap too small, Ruby grows it only if its
      # slots had been used up. While full collections are forbidden, Ruby also grows it after the next minor one.
      def grow
        @state = :growing
        @ruby.forbid
      end

      # Finds out whether a full collection is due. Only after sweeping does Ruby know whether there are enough free
      # slots. If not, Ruby's next collection is a full one, and may begin within this request where there is little
      # room.
      def settle
        return leave_to_ruby(:left) if forbidden?
        return leave_to_ruby(:allowed) if @state == :allowed && small?

        @state = :allowed
        @ruby.allow
        note
        need = @ruby.need
        return await(need) if need

        @look = NextLook.new(@ruby)
        @ruby.watch_closely(@look.tight?)
      end

      # Whether Carat forbids Ruby's full collections.
      def forbids? = %i[due growing].include?(@state)

      # Whether the application has forbidden Ruby's full collections. Nobody can tell while Carat forbids them itself.
      def forbidden?
        %i[allowed declined given_up].include?(@state) && !@ruby.allowed?
      end

      def small? = @ruby.size.use < LEAST_SLOTS

      # Counts full collections, until the heap is large enough, or forever.
      def leave_to_ruby(state)
        @state = state
        note
        @ruby.watch_closely(false)
      end

      # Forbids full collections until the edge orders one, and tells the edge why one is due.
      def await(need)
        @need = need
        @ruby.forbid
        @bound = GrowthBound.new(@ruby.size)
        @state = :due
        @ruby.watch_closely(true)
        @ruby.report_due(need)
      end

      def note
        @collections = @ruby.collections
        @full = @ruby.full_collections
        @nanoseconds = @ruby.nanoseconds
      end
    end
  end
end
