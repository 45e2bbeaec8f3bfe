# frozen_string_literal: true

require "json"
require "open3"
require_relative "server_options"

module Support
  # Runs subcommands against a server whose control socket is carat.sock in its directory.
  module ControlledServer
    CONTROL_SOCKET = ["--control-socket", "carat.sock"].freeze

    private

    # Serves CODE of the test, whose version is in a file.
    def start(config: nil, **options)
      files = { "version" => "1", "carat.rb" => config }.compact
      server = serve(self.class::CODE, **options, files:, args: CONTROL_SOCKET)
      await_workers(server, options[:workers] || 1)
      eventually(message: "the control socket") { File.socket?(File.join(server.directory.path, "carat.sock")) }
      server
    end

    # Returns the output, the errors, and the exit status.
    def carat(server, *words)
      out, err, status = Open3.capture3(ServerOptions::NEUTRAL_ENV, *ServerOptions::COMMAND, *words, *CONTROL_SOCKET,
                                        chdir: server.directory.path)
      [out, err, status.exitstatus]
    end

    # How many of the responses have each body.
    def versions(server, count)
      Array.new(count) { server.get("/").body }.tally
    end

    # What `carat status --json` says.
    def status(server)
      JSON.parse(carat(server, "status", "--json").first)
    end
  end
end
