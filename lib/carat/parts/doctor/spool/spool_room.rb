# frozen_string_literal: true

require "open3"
require_relative "../../../cli/units"
require_relative "../finding"

module Carat
  module CLI
    class Doctor
      # Checks whether the file system of spool_dir has as much free space as the limits allow bodies to take.
      class SpoolRoom
        KIB = 1024
        private_constant :KIB

        # `free` is the number of bytes that this user may still write.
        def initialize(configuration, free: nil)
          @configuration = configuration
          @free = free
        end

        # Returns the Finding.
        def finding
          return Finding.warning("spool_dir", "df cannot report the free space of #{directory}") unless free

          limit = %i[max_body spool_limit].find { |name| @configuration[name] > free }
          return Finding.ok("spool_dir", "#{directory} has #{words(free)} free") unless limit

          Finding.warning("spool_dir", "#{directory} has #{words(free)} free, " \
                                       "but #{limit} allows #{words(@configuration[limit])}")
        end

        private

        def directory
          @configuration[:spool_dir]
        end

        # The free bytes. The command `df` reports them, because Ruby has no statvfs(3).
        def free
          @free ||= Open3.capture2("df", "-Pk", directory).first.lines.last.to_s.split[3]&.to_i&.*(KIB)
        rescue Errno::ENOENT
          nil
        end

        def words(bytes)
          Units.bytes(bytes)
        end
      end
    end
  end
end
