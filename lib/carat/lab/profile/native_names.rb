# frozen_string_literal: true

module Carat
  module Lab
    module Profile
      # The names of functions of C that their libraries do not export.
      class NativeNames
        # Addresses are asked for in one go, within so many seconds.
        SECONDS = 20
        COMMAND = %w[addr2line -f -C].freeze
        private_constant :SECONDS, :COMMAND

        # `places` are pairs of the path of a library and an offset in it.
        def initialize(places)
          @names = places.group_by(&:first).flat_map { |library, pairs| look_up(library, pairs.map(&:last)) }.to_h
        end

        # Returns the name of the function that begins there: a symbol, or else the library and the offset.
        def fetch(library, offset)
          @names.fetch([library, offset]) { format("%<name>s+0x%<offset>x", name: File.basename(library), offset:) }
        end

        private

        # Without binutils or symbols, there are no names.
        def look_up(library, offsets)
          return [] unless trusted?(library)

          lines = read([*COMMAND, "-e", library, *offsets.map { |offset| format("0x%x", offset) }])
          names = lines.each_slice(2).map { |name, _| name.chomp }
          found = offsets.zip(names).reject { |_, name| ["", "??", nil].include?(name) }
          found.map { |offset, name| [[library, offset], name] }
        rescue SystemCallError
          []
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
