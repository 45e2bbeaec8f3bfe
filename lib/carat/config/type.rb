# frozen_string_literal: true

require "etc"
require_relative "config_error"
require_relative "type/network/networks"
require_relative "type/number/byte_count"
require_relative "type/number/count_range"
require_relative "type/number/memory_budget"
require_relative "type/number/refork_rule"
require_relative "type/number/seconds"
require_relative "type/number/whole_number"
require_relative "type/number/worker_count"
require_relative "type/path/paths"
require_relative "type/path/pool_list"
require_relative "type/path/static_directories"
require_relative "type/rule"
require_relative "type/word/choice"
require_relative "type/word/words"

module Carat
  module Config
    # The types of option values. Each type has `parse(value)`, which takes the value of a flag, a variable or the
    # config file and raises InvalidValue; `text(value)`, for readers; and `metavar`, for the help.
    module Type
      # Each type that an option can name: a class, or a Rule.
      NAMES = {
        addresses: Networks::ADDRESSES, boolean: Words::BOOLEAN, bytes: ByteCount, choice: Choice,
        collector: Networks::COLLECTOR, count: CountRange, directory: Paths::DIRECTORY, endpoints: Networks::ENDPOINTS,
        file: Paths::FILE, gc: Words::GC, group: Words::GROUP, https_url: Networks::HTTPS, integer: WholeNumber,
        log: Paths::LOG, memory: MemoryBudget, networks: Networks::NETWORKS, new_directory: Paths::NEW_DIRECTORY,
        optional_path: Paths::OPTIONAL, pages: Paths::PAGES, path_ends: Words::PATH_ENDS, pidfile: Paths::PIDFILE,
        pools: PoolList, prefix: Networks::PREFIX, refork: ReforkRule, seconds: Seconds, socket: Paths::SOCKET,
        static: StaticDirectories, string: Words::TEXT, targets: Networks::TARGETS, timeout: Seconds::TIMEOUT,
        umask: Words::UMASK, user: Words::USER, workers: WorkerCount
      }.freeze

      REMEDY = "change its permissions or the user"
      private_constant :REMEDY

      # Returns a type by its name, limited to `within` (a Range or a list of words) if that is given. A Rule of a part
      # is returned as it is.
      def self.build(name, within = nil)
        type = name.is_a?(Rule) ? name : NAMES.fetch(name)
        return type if type.is_a?(Rule)

        within ? type.new(within) : type.new
      end

      # Returns `value`, a String or Pathname, as an absolute path; raises InvalidValue for anything else.
      def self.absolute_path(value)
        path = value.respond_to?(:to_path) ? value.to_path : value
        return File.expand_path(path) if path.is_a?(String) && path.match?(/\A[^\0]+\z/)

        raise InvalidValue, "#{value.inspect} is not a path"
      rescue ArgumentError => e
        raise InvalidValue, "#{value.inspect} is not a path: #{e.message}" # ~nobody/file
      end

      # Returns the end of a message about a path that the user of this process may not use: `deed` is "read" or
      # "written to".
      def self.forbidden(deed)
        name = Etc.getpwuid(Process.euid)&.name || Process.euid
        "cannot be #{deed} by the user #{name}: #{REMEDY}"
      rescue ArgumentError # no entry for the user
        "cannot be #{deed} by the user #{Process.euid}: #{REMEDY}"
      end

      # Returns the reason why this process cannot write to `path`, or nil if it can. A file that does not exist would
      # be created in its directory.
      def self.write_obstacle(path)
        return if File.writable?(File.exist?(path) ? path : File.dirname(path))
        return forbidden("written to") unless read_only?(File.directory?(path) ? path : File.dirname(path))

        "is on a read-only disk: choose another path, or make the disk writable"
      end

      # Whether the directory is on a read-only disk. The kernel checks that before it looks for the file to delete, and
      # no file can have a name of 256 bytes, so that nothing is ever deleted.
      def self.read_only?(directory)
        File.unlink(File.join(directory, "-" * 256))
      rescue Errno::EROFS
        true
      rescue SystemCallError
        false
      end
      private_class_method :read_only?
    end
  end
end
