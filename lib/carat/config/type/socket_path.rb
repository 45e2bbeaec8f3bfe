# frozen_string_literal: true

require_relative "../invalid_value"

module Carat
  module Config
    module Type
      # Where the server makes a Unix socket: a path that is free, or taken by a socket already.
      class SocketPath
        # `sockaddr_un` holds 108 bytes with the closing NUL (unix(7)).
        LIMIT = 107

        # Returns what keeps a socket from being made at `path`, which is absolute, or nil.
        def self.problem(path)
          directory = ::File.dirname(path)
          if path.bytesize > LIMIT then "is longer than #{LIMIT} bytes"
          elsif !::File.directory?(directory) then "is in a directory that is not there"
          elsif ::File.directory?(path) then "is a directory"
          elsif ::File.exist?(path) && !::File.socket?(path) then "is a file and no socket"
          elsif !::File.writable?(::File.exist?(path) ? path : directory) then "cannot be written to"
          end
        end

        # Reads a path (String or Pathname) and returns it absolute; raises InvalidValue.
        def parse(value)
          path = Type.absolute_path(value)
          problem = self.class.problem(path)
          raise InvalidValue, "#{path} #{problem}" if problem

          path
        end

        def text(value)
          value
        end

        def metavar
          "PATH"
        end
      end
    end
  end
end
