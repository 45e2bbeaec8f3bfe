# frozen_string_literal: true

require "minitest"
require_relative "eventually"
require_relative "server"

module Support
  # A test against real servers: ends them afterwards, and shows the log and keeps the directory when it failed.
  class IntegrationTest < Minitest::Test
    include Eventually

    def setup
      @servers = []
    end

    def teardown
      @servers.each(&:destroy)
      passed? || skipped? ? @servers.each { |server| server.directory.remove } : report
    end

    private

    # A server that is not started yet; see ServerOptions::DEFAULTS.
    def server(**options)
      Server.new(**options).tap { |server| @servers << server }
    end

    # A server that is ready.
    # @param app [String] config.ru
    def serve(app, **options)
      server(app: app, **options).start
    end

    def report
      @servers.each do |server|
        warn "#{self.class}##{name} failed; the server's directory is kept in #{server.directory.path}, its log:",
             server.log.gsub(/^/, "    ")
      end
    end
  end
end
