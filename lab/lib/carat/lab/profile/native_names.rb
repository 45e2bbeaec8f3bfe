# frozen_string_literal: true

require "io/wait"

module Carat
  module Lab
    module Profile
      # The names of functions of C that their libraries do not export.
      class NativeNames
        # Addresses are asked for in one go, within so many seconds.
        SECONDS = 20
        COMMAND = %w[addr2line -f -C].freeze
        HEADER_BYTES = 64
        SYMBOL_TABLE = 2
        private_constant :SECONDS, :COMMAND, :HEADER_BYTES, :SYMBOL_TABLE

        # `places` are pairs of the path of a library and an offset in it.
        def initialize(places)
          @names = places.group_by(&:first).flat_map { |library, pairs| look_up(library, pairs.map(&:last)) }.to_h
        end

        # Returns the name of the function that begins there: a symbol, or else the library and the offset.
        def fetch(library, offset)
          find(library, offset) || format("%<name>s+0x%<offset>x", name: File.basename(library), offset:)
        end

        # Returns the symbol, or nil.
        def find(library, offset)
          @names[[library, offset]]
        end

        private

        # Without binutils or symbols, there are no names.
        def look_up(library, offsets)
          return [] unless trusted?(library)

          lines = read([*COMMAND, "-e", library, *offsets.map { |offset| format("0x%x", offset) }])
          known = symbols?(library)
          names = lines.each_slice(2).map { |name, place| name.chomp if known || !place.to_s.start_with?("??") }
          found = offsets.zip(names).reject { |_, name| ["", "??", nil].include?(name) }
          found.map { |offset, name| [[library, offset], name] }
        rescue SystemCallError
          []
        end

        # Whether the library, in the ELF format, has a table of all its symbols. Without one, or debug information from
        # elsewhere, the program names the nearest function that the library exports.
        def symbols?(library)
          header = File.binread(library, HEADER_BYTES).to_s
          return false unless header.start_with?("\x7FELF".b) && header.bytesize == HEADER_BYTES

          size, count = header.unpack("@58 S2")
          sections = File.binread(library, size * count, header.unpack1("@40 Q")).to_s
          (0...count).any? { |index| sections[(index * size) + 4, 4]&.unpack1("L") == SYMBOL_TABLE }
        end

        # A profile comes from the application: only libraries that it cannot have made are parsed for another user.
        def trusted?(library)
          stat = File.stat(library)
          stat.file? && (stat.owned? || stat.uid.zero?)
        end

        def read(command)
          IO.popen(command, err: File::NULL) do |io|
            output = +""
            deadline = now + SECONDS
            while io.wait_readable([deadline - now, 0].max) && (part = io.read_nonblock(65_536, exception: false))
              output << part unless part == :wait_readable
            end
            Process.kill(:KILL, io.pid) if now >= deadline
            output.scrub("?").lines
          end
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
