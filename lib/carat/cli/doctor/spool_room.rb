# frozen_string_literal: true

require "open3"
require_relative "../bytes"
require_relative "finding"

module Carat
  module CLI
    class Doctor
      # Whether the file system of spool_dir has room for what the limits allow.
      class SpoolRoom
        KIB = 1024

        # `free` are the bytes that are free for this user.
        def initialize(configuration, free: nil)
          @configuration = configuration
          @free = free
        end

        def finding
          return Finding.warning("spool_dir", "df does not know how much room #{directory} has") unless free

          limit = %i[max_body spool_limit].find { |name| @configuration[name] > free }
          return Finding.ok("spool_dir", "#{directory} has #{words(free)} free") unless limit

          Finding.warning("spool_dir", "#{directory} has #{words(free)} free, " \
                                       "and #{limit} allows #{words(@configuration[limit])}")
        end

        private

        def directory
          @configuration[:spool_dir]
        end

        # POSIX has df, and Ruby has no statvfs(3).
        def free
          @free ||= Open3.capture2("df", "-Pk", directory).first.lines.last.to_s.split[3]&.to_i&.*(KIB)
        rescue Errno::ENOENT
          nil
        end

        def words(bytes)
          Bytes.words(bytes)
        end
      end
    end
  end
end
