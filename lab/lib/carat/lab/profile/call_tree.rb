# frozen_string_literal: true

require_relative "frame"
require_relative "frame_filter"

module Carat
  module Lab
    module Profile
      # The calls of a profile, each with its caller and its function, and with what it has allocated itself, or the
      # time that it has taken itself.
      class CallTree
        # Estimates of what a call has allocated itself: bytes and objects, and what of them is live.
        Weight = Struct.new(:bytes, :objects, :live_bytes, :live_objects)

        # Microseconds of a call itself, by clock.
        Time = Struct.new(:cpu, :wall, :gvl)

        # A call: the number of its caller or nil, the number of its Frame, and its Weight.
        Call = Struct.new(:caller, :frame, :weight)
        private_constant :Call

        # The Frames.
        attr_reader :frames

        # The Calls; callers come first.
        attr_reader :calls

        # `profile` is the object that a Recording has made, parsed; `kind` is Weight or Time. Raises KeyError,
        # TypeError, and IndexError.
        def initialize(profile, kind = Weight)
          @kind = kind
          @frames = []
          @calls = []
          @frame_numbers = {}
          @call_numbers = {}
          @filter = FrameFilter.new(profile.fetch("functions"))
          weights = kind.members.map { |name| profile.fetch(name.to_s) }.transpose
          add(profile.fetch("callers").zip(profile.fetch("calls")), weights)
        end

        # Returns the sum of all Weights.
        def total
          sum = none
          @calls.each { |call| increase(sum, call.weight) }
          sum
        end

        private

        # A call in the server's own code, before any of the application, has no Frame of its own.
        def add(rows, weights)
          numbers = []
          in_server = []
          rows.each_with_index do |(parent, function), index|
            caller, is_server = parent ? [numbers.fetch(parent), in_server.fetch(parent)] : [nil, true]
            number, in_server[index] = place(caller, is_server, @filter.fetch(function))
            numbers << number
            number ||= call(nil, Frame.new("other", "(no Ruby code)")) if weights[index].any?(&:positive?)
            increase(@calls[number].weight, weights[index].map(&:to_i)) if number
          end
        end

        # Returns the number of a call, and whether it is in the server's own code.
        def place(caller, is_server, frame)
          above = caller && @frames[@calls[caller].frame]
          return [caller, is_server] if frame.nil? || (above && skipped?(above, is_server, frame))

          [call(caller, frame), is_server && frame.kind == "other"]
        end

        # The server's own calls are one, with the methods of Ruby that they use. What the collector interrupts does not
        # matter.
        def skipped?(above, is_server, frame)
          return frame.kind != "c" if above.name == FrameFilter::COLLECTOR
          return true if frame.equal?(FrameFilter::SERVER) && above.equal?(FrameFilter::SERVER)

          is_server && frame.kind == "ruby" && frame.file.nil?
        end

        def call(caller, frame)
          number = (@frame_numbers[frame] ||= append(@frames, frame))
          @call_numbers[[caller, number]] ||= append(@calls, Call.new(caller, number, none))
        end

        def none
          @kind.new(*[0] * @kind.members.size)
        end

        def append(list, element)
          list << element
          list.size - 1
        end

        def increase(weight, other)
          other.each_with_index { |value, index| weight[index] += value }
        end
      end
    end
  end
end
