# frozen_string_literal: true

require "open3"
require_relative "server_options"

module Support
  # Runs subcommands against a server whose control socket is carat.sock in its directory.
  module ControlledServer
    CONTROL_SOCKET = ["--control-socket", "carat.sock"].freeze

    private

    # Returns the output, the errors, and the exit status.
    def carat(server, *words)
      out, err, status = Open3.capture3(ServerOptions::NEUTRAL_ENV, *ServerOptions::COMMAND, *words, *CONTROL_SOCKET,
                                        chdir: server.directory.path)
      [out, err, status.exitstatus]
    end
  end
end
