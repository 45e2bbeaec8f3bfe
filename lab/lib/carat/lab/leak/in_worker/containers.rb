# frozen_string_literal: true

require_relative "../../library"
require_relative "root_paths"

module Carat
  module Lab
    module Leak
      # The Strings, Arrays, and Hashes of this process that get more content in every round. Their memory grows in
      # steps, so it is their content that is measured.
      class Containers
        # How the content of each class is measured, in elements of so many bytes; smaller containers are left out.
        KINDS = {
          String => [String.instance_method(:bytesize), 1, 256],
          Array => [Array.instance_method(:length), 8, 8],
          # An entry, and its share of the index.
          Hash => [Hash.instance_method(:length), 28, 8]
        }.freeze

        # The containers that are reported.
        LIMIT = 10
        # Methods of C return where threads take turns: a line that goes on then has no event of its own.
        EVENTS = %i[line call return b_call b_return c_return].freeze
        RETURNS = %i[return b_return].freeze
        FOREIGN = /\A(<internal:|#{Regexp.union(Library::CODE)})/
        private_constant :KINDS, :EVENTS, :RETURNS, :FOREIGN

        # Notes the containers of now.
        def initialize
          @sizes = {}.compare_by_identity
          KINDS.each do |kind, (length, _, smallest)|
            ObjectSpace.each_object(kind) do |object|
              @sizes[object] = [length.bind_call(object)] unless object.frozen? || length.bind_call(object) < smallest
            end
          end
          @sizes.delete(@sizes)
          @grown = {}
        end

        # Ends a round.
        def measure
          @sizes.each { |object, sizes| sizes << length(object) }
          @sizes.delete_if { |_, sizes| sizes[-1] <= sizes[-2] }
        end

        # From now on, notes the lines at which the containers grow.
        def watch
          @suspects = suspects.map { |object, _| [object, length(object), Hash.new(0)] }
          @stacks = Hash.new { |stacks, fiber| stacks[fiber] = [nil] }.compare_by_identity
          @tracepoint = TracePoint.new(*EVENTS) { |event| note(event) }
          @tracepoint.enable
        end

        # Ends that.
        def unwatch
          @tracepoint&.disable
          @stacks&.clear
        end

        # Returns a Hash for each container: `class`, `bytes` by round, and the `file` and `line` that fill it, nil when
        # unknown; `sample` is the container.
        def growing
          lines = @suspects.to_h { |object, _, grown| [object.__id__, grown.max_by(&:last)&.first] }
          suspects.map do |object, sizes|
            file, line = lines[object.__id__]
            { class: RootPaths.class_name(object), bytes: sizes.each_cons(2).map { |a, b| (b - a) * width(object) },
              file:, line:, sample: object }
          end
        end

        private

        def suspects
          @sizes.select { |_, sizes| sizes.size > 1 }
                .max_by(LIMIT) { |object, sizes| (sizes.last - sizes.first) * width(object) }
        end

        # What has grown since the last event has grown at the place of that event. A method without an event for its
        # line, such as an endless one, ends at that line.
        def note(event)
          stack = @stacks[Fiber.current]
          here = [event.path, event.lineno] unless FOREIGN.match?(event.path)
          place = @last&.last || (here if event.event.end_with?("return"))
          @suspects.each { |suspect| compare(suspect, place) }
          advance(stack, event.event, here)
          @last = stack
        end

        # A line that is not the application's counts for the one that called it.
        def advance(stack, event, here)
          case event
          when :line then stack[-1] = here || stack.last
          when :call, :b_call then stack << (here ? nil : stack.last)
          when *RETURNS then stack.size > 1 ? stack.pop : stack[-1] = nil
          end
        end

        def compare(suspect, place)
          object, before, grown = suspect
          now = length(object)
          return if now == before

          suspect[1] = now
          grown[place] += now - before if place && now > before
        end

        def length(object)
          kind(object)[0].bind_call(object)
        end

        def width(object)
          kind(object)[1]
        end

        def kind(object)
          KINDS.find { |type, _| type === object }.last # rubocop:disable Style/CaseEquality
        end
      end
    end
  end
end
