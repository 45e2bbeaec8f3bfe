# frozen_string_literal: true

require_relative "../../invalid_value"
require_relative "../rule"

module Carat
  module Config
    module Type
      # Types of paths: each takes a String or Pathname and returns it absolute.
      module Paths
        OFF = "off"
        # `sockaddr_un` holds 108 bytes with the closing NUL (unix(7)).
        SOCKET_LIMIT = 107
        private_constant :OFF, :SOCKET_LIMIT

        # Returns the Rule for a path of which the block returns what is wrong with it, or nil.
        def self.rule(metavar)
          Rule.new(metavar) do |value|
            path = Type.absolute_path(value)
            problem = yield path
            raise InvalidValue, problem if problem

            path
          end
        end
        private_class_method :rule

        # Returns the message about a path that cannot be used, or nil without a reason.
        def self.refusal(path, reason)
          "#{path} #{reason}" if reason
        end
        private_class_method :refusal

        # Returns the reason why no socket can be created at `path`, which is absolute; nil if there is none.
        def self.socket_problem(path)
          if path.bytesize > SOCKET_LIMIT then "is longer than #{SOCKET_LIMIT} bytes"
          elsif !File.directory?(File.dirname(path)) then "is in a directory that does not exist"
          elsif File.directory?(path) then "is a directory"
          elsif File.exist?(path) && !File.socket?(path) then "is a file, not a socket"
          else Type.write_obstacle(path)
          end
        end

        # A file that exists and is readable.
        FILE = rule("FILE") do |path|
          if File.directory?(path) then "#{path} is a directory"
          elsif !File.exist?(path) then "there is no file #{path}"
          elsif !File.file?(path) then "#{path} is not a regular file"
          elsif !File.readable?(path) then refusal(path, Type.forbidden("read"))
          end
        end

        # A directory that exists and is writable.
        DIRECTORY = rule("DIRECTORY") do |path|
          File.directory?(path) ? refusal(path, Type.write_obstacle(path)) : "there is no directory #{path}"
        end

        # A directory that exists and is readable.
        PAGES = rule("DIRECTORY") do |path|
          next "there is no directory #{path}" unless File.directory?(path)

          refusal(path, Type.forbidden("read")) unless File.readable?(path) && File.executable?(path)
        end

        # A directory that is made when it is needed.
        NEW_DIRECTORY = rule("DIRECTORY") do |path|
          "#{path} is not a directory" if File.exist?(path) && !File.directory?(path)
        end

        # A file to append to. It need not exist; its directory must.
        LOG = rule("FILE") do |path|
          if File.directory?(path) then "#{path} is a directory"
          elsif !File.directory?(File.dirname(path)) then "there is no directory #{File.dirname(path)}"
          else refusal(path, Type.write_obstacle(path))
          end
        end

        # The path at which the server creates a Unix socket: it must be free, or a socket.
        SOCKET = rule("PATH") { |path| refusal(path, socket_problem(path)) }

        # The path of a file that may come and go; "off", false or nil stand for none. A relative path stays relative:
        # links on the way to it may change.
        OPTIONAL = Rule.new("FILE|#{OFF}", text: ->(value) { value || OFF }) do |value|
          next if !value || value.to_s == OFF

          Type.absolute_path(value) # Raises if it is not a path.
          value.to_s
        end
      end
    end
  end
end
