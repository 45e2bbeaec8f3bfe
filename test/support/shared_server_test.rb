# frozen_string_literal: true

require_relative "integration_test"

module Support
  # A test class whose tests share one server. The first test starts it, and it ends after the last.
  #
  #   class GreetingTest < Support::SharedServerTest
  #     serves 'run ->(_env) { [200, {}, ["hello"]] }', args: %w[--max-headers 10]
  #
  #     def test_it_greets
  #       assert_equal "hello", server.get.body
  #     end
  #   end
  class SharedServerTest < IntegrationTest
    class << self
      # Declares the server; see ServerOptions::DEFAULTS.
      # @param app [String] config.ru
      def serves(app, **options)
        @options = { app: app, workers: 1, threads: 1, **options }
      end

      # The server, started on first use.
      def server
        @server ||= Server.new(**@options).start
      end

      # Runs all tests of the class.
      def run(...)
        super
      ensure
        @server&.destroy
        @server&.directory&.remove unless @kept
        @server = nil
      end

      # Keeps the server's directory after the tests.
      def keep
        @kept = true
      end
    end

    def setup
      super
      @clients = []
      @log_start = server.log.size
    end

    def teardown
      @clients.each(&:close)
      super
    end

    private

    # The server of the class, or one with options of its own for this test.
    def server(**options)
      options.empty? ? self.class.server : super
    end

    # A new connection, closed after the test.
    def connect(...)
      server.connect(...).tap { |client| @clients << client }
    end

    # The output of the server and the application during this test.
    def log
      server.log[@log_start..]
    end

    # The number of the edge's file descriptors, including client connections and spooled bodies.
    def descriptors
      ProcessTree.descriptors(server.pid)
    end

    # The server closes the connection without a reset and without another byte.
    def assert_closed(client)
      assert_equal "", client.read_to_end
      refute_predicate client, :reset_by_peer?
    end

    def report
      super
      self.class.keep
      warn "#{self.class}##{name} failed; the server's directory is kept in #{server.directory.path}, its log:",
           log.gsub(/^/, "    ")
    end
  end
end
