# frozen_string_literal: true

require_relative "../../invalid_value"
require_relative "../word/as_written"

module Carat
  module Config
    module Type
      # The path at which the server creates a Unix socket: it must be free, or a socket.
      class SocketPath
        include AsWritten

        # `sockaddr_un` holds 108 bytes with the closing NUL (unix(7)).
        LIMIT = 107

        # Returns the reason why no socket can be created at `path`, which is absolute; nil if there is none.
        def self.problem(path)
          directory = File.dirname(path)
          if path.bytesize > LIMIT then "is longer than #{LIMIT} bytes"
          elsif !File.directory?(directory) then "is in a directory that does not exist"
          elsif File.directory?(path) then "is a directory"
          elsif File.exist?(path) && !File.socket?(path) then "is a file, not a socket"
          else Type.write_obstacle(path)
          end
        end

        # Reads a path (String or Pathname) and returns it absolute; raises InvalidValue.
        def parse(value)
          path = Type.absolute_path(value)
          problem = self.class.problem(path)
          raise InvalidValue, "#{path} #{problem}" if problem

          path
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "PATH"
        end
      end
    end
  end
end
