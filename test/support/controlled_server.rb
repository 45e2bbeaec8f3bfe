# frozen_string_literal: true

require "json"
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

    # What `carat status --json` says.
    def status(server)
      JSON.parse(carat(server, "status", "--json").first)
    end
  end
end
