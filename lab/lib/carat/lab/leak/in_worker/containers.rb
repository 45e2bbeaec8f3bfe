# frozen_string_literal: true

require_relative "../../library"
require_relative "root_paths"

module Carat
  module Lab
    module Leak
      # The Strings, Arrays, and Hashes of this process that get more content and lose none. Their memory grows in
      # steps, so it is their content that is measured.
      class Containers
        # How the content of each class is measured, in elements of so many bytes; smaller containers are left out.
        KINDS = {
          String => [String.instance_method(:bytesize), 1, 24],
          Array => [Array.instance_method(:length), 8, 8],
          # An entry, and its share of the index.
          Hash => [Hash.instance_method(:length), 28, 8]
        }.freeze

        # The containers that are watched: those that grow most, and as many of the others, which stand for their class.
        LIMIT = 12
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
        end

        # Ends a round.
        def measure
          @sizes.each { |object, sizes| sizes << length(object) }
          @sizes.delete_if { |_, sizes| sizes[-1] < sizes[-2] }
        end

        # From now on, notes the lines at which the containers grow.
        def watch
          @grown = grown
          others = @grown.drop(LIMIT)
          watched = @grown.first(LIMIT) + others.each_slice((others.size / LIMIT) + 1).map(&:first)
          @suspects = watched.map { |object, _| [object, length(object), Hash.new(0)] }
          @stacks = Hash.new { |stacks, fiber| stacks[fiber] = [nil] }.compare_by_identity
          @tracepoint = TracePoint.new(*EVENTS) { |event| note(event) }
          @tracepoint.enable
        end

        # Whether some container of each watched class has been filled since then.
        def filled?
          usual_lines.each_value.all?
        end

        # Ends that.
        def unwatch
          @tracepoint&.disable
          @stacks&.clear
        end

        # Returns a Hash for each class and line that fills its containers: `class`, `bytes` by round, the `count` of
        # containers, the `file` and `line`, nil when unknown, and as a `sample` the container that grows most.
        def growing
          filling = lines
          usual = usual_lines
          @grown.group_by { |object, _| filling[object] || usual[class_name(object)] }.flat_map do |line, rows|
            rows.group_by { |object, _| class_name(object) }.map { |name, same| describe(name, line, same) }
          end
        end

        private

        # The containers that have grown, with their content after each round, those that grow most first.
        def grown
          @sizes.select { |_, sizes| sizes.last > sizes.first }
                .sort_by { |object, sizes| -(sizes.last - sizes.first) * width(object) }
        end

        # The line that fills each watched container.
        def lines
          @suspects.to_h { |object, _, places| [object, most(places)] }.compare_by_identity
        end

        # The line that fills most of the watched containers of a class.
        def usual_lines
          @suspects.group_by { |object, *| class_name(object) }.transform_values do |same|
            most(same.map(&:last).reduce { |all, places| all.merge(places) { |_, before, more| before + more } })
          end
        end

        def most(places)
          places.max_by(&:last)&.first
        end

        def describe(name, line, rows)
          growth = rows.map { |object, sizes| sizes.each_cons(2).map { |a, b| (b - a) * width(object) } }
          { class: name, bytes: growth.transpose.map(&:sum), count: rows.size, file: line&.first, line: line&.last,
            sample: rows.first.first }
        end

        def class_name(object)
          RootPaths.class_name(object)
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
