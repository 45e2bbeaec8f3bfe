# frozen_string_literal: true

require_relative "../finding"

module Carat
  module CLI
    class Doctor
      # Checks whether spool_dir is on a disk, not in memory.
      class SpoolMemory
        TYPES = %w[tmpfs ramfs].freeze
        MOUNTS = "/proc/self/mountinfo"
        private_constant :MOUNTS, :TYPES

        # `mounts` is the text of /proc/self/mountinfo, see proc(5).
        def initialize(configuration, mounts: File.read(MOUNTS))
          @directory = configuration[:spool_dir]
          @mounts = mounts
        end

        # Returns the Finding.
        def finding
          return Finding.ok("spool_dir", "#{@directory} is not in memory") unless TYPES.include?(type)

          Finding.warning("spool_dir", "#{@directory} is a #{type}: files there take memory; " \
                                       "set spool_dir to a directory on a disk")
        end

        private

        # The type of the file system. In a line of mountinfo it follows a lone dash, because the number of fields
        # before it varies.
        def type
          mount = @mounts.lines.map(&:split).find { |fields| fields[2] == device }
          mount && mount[mount.index("-") + 1]
        end

        def device
          stat = File.stat(@directory)
          "#{stat.dev_major}:#{stat.dev_minor}"
        end
      end
    end
  end
end
