# frozen_string_literal: true

require_relative "../../config_error"
require_relative "../rule"

module Carat
  module Config
    module Type
      # Types of paths. A type takes a String or Pathname, and all but OPTIONAL make the path absolute.
      module Paths
        OFF = "off"
        # `sockaddr_un` holds 108 bytes with the closing NUL (unix(7)).
        SOCKET_LIMIT = 107
        # Standard output. The edge writes to the file descriptor, because opening this name fails for a socket and for
        # another user's pipe.
        OUTPUT = "/dev/stdout"
        # Standard error, the default of the log.
        ERRORS = "/dev/stderr"
        STREAMS = { OUTPUT => OUTPUT, ERRORS => ERRORS }.merge(
          *%w[/dev/fd /proc/self/fd].map { |folder| { "#{folder}/1" => OUTPUT, "#{folder}/2" => ERRORS } }
        ).freeze
        # The most symbolic links to follow, as many as the kernel follows.
        LINKS_LIMIT = 40
        # The most bytes to read from a pid file, more than any process id takes.
        PID_LIMIT = 1024
        private_constant :OFF, :SOCKET_LIMIT, :OUTPUT, :ERRORS, :STREAMS, :LINKS_LIMIT, :PID_LIMIT

        # Returns the Rule for a path; the block returns what is wrong with the path, or nil.
        def self.rule(metavar)
          Rule.new(metavar) do |value|
            path = Type.absolute_path(value)
            problem = yield path
            raise InvalidValue, problem if problem

            path
          end
        end
        private_class_method :rule

        # Returns the message that `path` cannot be used for `reason`, or nil when `reason` is nil.
        def self.refusal(path, reason)
          "#{path} #{reason}" if reason
        end
        private_class_method :refusal

        # Returns the message about a missing file. For a broken symbolic link, the message says where it leads.
        def self.missing_file(path)
          return "there is no file #{path}" unless File.symlink?(path)

          "#{path} is a link to #{File.readlink(path)}, which is not there"
        end

        # Returns the reason why no socket can be created at `path`, which is absolute; nil if there is none.
        def self.socket_problem(path)
          if path.bytesize > SOCKET_LIMIT then "is longer than #{SOCKET_LIMIT} bytes"
          elsif !File.directory?(File.dirname(path)) then "is in a directory that does not exist"
          elsif File.directory?(path) then "is a directory"
          elsif File.exist?(path) && !File.socket?(path) then "is a file, not a socket"
          else Type.write_obstacle(path)
          end
        end

        # Returns the standard stream, OUTPUT or ERRORS, that the absolute path names directly or by symbolic links; or
        # nil.
        def self.stream(path)
          LINKS_LIMIT.times do
            return STREAMS[path] if STREAMS.key?(path)

            path = File.expand_path(File.readlink(path), File.dirname(path))
          end
          nil
        rescue SystemCallError # The path is no link.
          nil
        end

        # Whether `path` is the null device, also under another name than /dev/null.
        def self.null?(path)
          found = File.stat(path)
          found.chardev? && found.rdev == File.stat(File::NULL).rdev
        rescue SystemCallError
          false
        end

        # Returns the reason why no file can be appended to at `path`; nil if there is none.
        def self.file_problem(path)
          if File.directory?(path) then "#{path} is a directory"
          elsif !File.directory?(File.dirname(path)) then "there is no directory #{File.dirname(path)}"
          else refusal(path, Type.write_obstacle(path))
          end
        end

        # Returns the reason why the server must not replace the file at `path` by its pid file, or nil if it may.
        def self.pidfile_problem(path)
          return if File.symlink?(path) || !File.exist?(path)
          return "is not a regular file" unless File.file?(path)

          "is not a pid file" unless File.read(path, PID_LIMIT).to_s.match?(/\A\s*\d*\s*\z/n)
        rescue Errno::EACCES
          Type.forbidden("read")
        end

        # A file that exists and is readable.
        FILE = rule("FILE") do |path|
          if File.directory?(path) then "#{path} is a directory"
          elsif !File.exist?(path) then missing_file(path)
          elsif !File.file?(path) then "#{path} is not a regular file"
          elsif !File.readable?(path) then refusal(path, Type.forbidden("read"))
          end
        end

        # A directory that exists and is writable.
        DIRECTORY = rule("DIRECTORY") do |path|
          File.directory?(path) ? refusal(path, Type.write_obstacle(path)) : "there is no directory #{path}"
        end

        # A directory of error pages that exists and is readable.
        PAGES = rule("DIRECTORY") do |path|
          next "there is no directory #{path}" unless File.directory?(path)

          next refusal(path, Type.forbidden("read")) unless File.readable?(path) && File.executable?(path)

          "#{path} has no page such as 503.html" if Dir.glob("[45][0-9][0-9].html", base: path).empty?
        end

        # A directory that is created when it is needed.
        NEW_DIRECTORY = rule("DIRECTORY") do |path|
          "#{path} is not a directory" if File.exist?(path) && !File.directory?(path)
        end

        # A file to append to. Its directory must exist; the file need not. "-" is standard output.
        LOG = Rule.new("FILE") do |value|
          path = value == "-" ? OUTPUT : Type.absolute_path(value)
          stream = stream(path)
          next (stream unless stream == ERRORS) if stream

          problem = file_problem(path)
          raise InvalidValue, problem if problem

          path
        end

        # A file to which the server writes its process id, and which it removes at its end. /dev/null means no pid
        # file.
        PIDFILE = Rule.new("FILE") do |value|
          path = Type.absolute_path(value)
          next if null?(path)

          problem = file_problem(path) || refusal(path, pidfile_problem(path))
          raise InvalidValue, problem if problem

          path
        end

        # The path at which the server creates a Unix socket. Nothing, or a socket, may exist there.
        SOCKET = rule("PATH") { |path| refusal(path, socket_problem(path)) }

        # The path of a file that may come and go; "off", false or nil mean no file. A relative path stays relative,
        # because symbolic links in the path of the working directory may change.
        OPTIONAL = Rule.new("FILE|#{OFF}", text: ->(value) { value || OFF }) do |value|
          next if !value || value.to_s == OFF

          Type.absolute_path(value) # Raises if it is not a path.
          value.to_s
        end
      end
    end
  end
end
