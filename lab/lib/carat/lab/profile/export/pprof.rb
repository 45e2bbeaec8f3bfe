# frozen_string_literal: true

require "stringio"
require "zlib"

module Carat
  module Lab
    module Profile
      # Profiles as one file of pprof: the message `perftools.profiles.Profile` of its `profile.proto`, compressed. Each
      # Series is a type of samples.
      class Pprof
        # Fields of the message, by their numbers there.
        SAMPLE_TYPE = 1
        SAMPLE = 2
        LOCATION = 4
        FUNCTION = 5
        STRING_TABLE = 6
        TIME_NANOS = 9
        DURATION_NANOS = 10
        DEFAULT_SAMPLE_TYPE = 14
        NANOSECONDS = 1_000_000_000
        private_constant :SAMPLE_TYPE, :SAMPLE, :LOCATION, :FUNCTION, :STRING_TABLE, :TIME_NANOS, :DURATION_NANOS,
                         :DEFAULT_SAMPLE_TYPE, :NANOSECONDS

        # `series` are Series; the profile took so many seconds, until now.
        def initialize(series, seconds)
          @series = series
          @seconds = seconds
          @strings = { "" => 0 }
        end

        # Returns the bytes.
        def to_s
          io = StringIO.new("".b)
          writer = Zlib::GzipWriter.new(io)
          writer.write(message)
          writer.close
          io.string
        end

        private

        def message
          trees = @series.map(&:tree).uniq(&:object_id)
          types = @series.map { |series| bytes(SAMPLE_TYPE, value_type(series)) }
          first = 0
          parts = trees.flat_map do |tree|
            part = [samples(tree, first), locations(tree, first)]
            first += tree.frames.size
            part
          end
          times = number(TIME_NANOS, (Time.now.to_r * NANOSECONDS).to_i) +
                  number(DURATION_NANOS, (@seconds * NANOSECONDS).to_i) +
                  number(DEFAULT_SAMPLE_TYPE, string(@series.first.name))
          [*types, *parts, times, *@strings.keys.map { |text| bytes(STRING_TABLE, text.b) }].join
        end

        def value_type(series)
          number(1, string(series.name)) + number(2, string(series.unit))
        end

        # Locations count from 1; a stack begins with the innermost.
        def samples(tree, first)
          series = @series.find { |one| one.tree.equal?(tree) }
          members = @series.map { |one| one.member if one.tree.equal?(tree) }
          tree.calls.map do |call|
            values = members.map { |member| member ? call.weight[member] : 0 }
            next unless values.any?(&:positive?)

            stack = series.stack(call).reverse.map { |frame| first + frame + 1 }
            bytes(SAMPLE, bytes(1, varints(stack)) + bytes(2, varints(values)))
          end.join
        end

        # A location, and its function, for each frame.
        def locations(tree, first)
          tree.frames.each_with_index.map do |frame, index|
            id = first + index + 1
            line = number(1, id) + number(2, frame.line.to_i)
            function = number(1, id) + number(2, string(frame.name)) + number(4, string(frame.file.to_s))
            bytes(LOCATION, number(1, id) + bytes(4, line)) + bytes(FUNCTION, function)
          end.join
        end

        # The index of a text in the table.
        def string(text)
          @strings[text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub] ||= @strings.size
        end

        def number(field, value)
          varint(field << 3) + varint(value)
        end

        def bytes(field, value)
          varint((field << 3) | 2) + varint(value.bytesize) + value
        end

        def varints(values)
          values.map { |value| varint(value) }.join
        end

        def varint(value)
          septets = [value & 0x7f]
          septets << (value & 0x7f) while (value >>= 7).positive?
          last = septets.pop
          [*septets.map { |septet| septet | 0x80 }, last].pack("C*")
        end
      end
    end
  end
end
