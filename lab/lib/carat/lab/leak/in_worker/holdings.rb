# frozen_string_literal: true

module Carat
  module Lab
    module Leak
      # What a process has from the kernel: descriptors and mappings, by what they are of.
      module Holdings
        # The directory of descriptors.
        DESCRIPTORS = "/proc/self/fd"
        MAPPINGS = "/proc/self/smaps"
        MAPS = "/proc/self/maps"

        # The first line of a mapping: addresses, rights, offset, device, inode, and a path or a name in brackets.
        MAPPING = /\A\h+-\h+ (\S+) \S+ \S+ \d+ *(.*)/
        RESIDENT = /\ARss: +(\d+) kB/
        ANONYMOUS = "anonymous memory"

        # The kinds that are named.
        LIMIT = 5
        private_constant :MAPPINGS, :MAPS, :MAPPING, :RESIDENT, :ANONYMOUS, :LIMIT

        module_function

        # Returns a Hash for JSON: by kind, how many there are and, of mappings, their resident bytes.
        def take
          { descriptors: descriptors.tally, mappings: }
        end

        # Returns words about what has grown between two of them, most first.
        def growth(before, after, kind)
          rows = after.fetch(kind).map do |name, now|
            [name, *Array(now).zip(Array(before.fetch(kind)[name])).map { |new, old| new - old.to_i }]
          end
          rows.select { |row| row.last.positive? }.max_by(LIMIT, &:last).map do |name, more, bytes|
            bytes ? format("%.1f MiB of %s in %+d mappings", bytes / (1024.0 * 1024), name, more) : "#{more} of #{name}"
          end
        end

        # The number of the kernel's mappings, a line each.
        def mapping_count
          count = 0
          File.foreach(MAPS) { count += 1 }
          count
        end

        # A socket or a pipe has a number of its own.
        def descriptors
          Dir.children(DESCRIPTORS).filter_map do |number|
            File.readlink(File.join(DESCRIPTORS, number)).sub(/:\[\d+\]\z/, "")
          rescue Errno::ENOENT
            nil # that of the directory
          end
        end

        # Line by line: a long text may stay alive for some rounds, since the collector finds it on the stack.
        def mappings
          sums = Hash.new { |hash, name| hash[name] = [0, 0] }
          sum = nil
          File.foreach(MAPPINGS) do |line|
            if (found = MAPPING.match(line))
              sum = sums["#{found[2].empty? ? ANONYMOUS : found[2]} (#{found[1]})"]
              sum[0] += 1
            elsif (found = RESIDENT.match(line))
              sum[1] += Integer(found[1], 10) * 1024
            end
          end
          sums
        end
        private_class_method :descriptors, :mappings
      end
    end
  end
end
