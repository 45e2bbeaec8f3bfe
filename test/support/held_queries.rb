# frozen_string_literal: true

require_relative "postgres"

module Support
  # Queries of a server under test, @server, that wait for a lock that the test holds.
  module HeldQueries
    WAIT = "select pg_advisory_xact_lock_shared(1)"

    def teardown
      @holder&.finish
      super
    end

    private

    def postgres
      Postgres.shared
    end

    # Makes WAIT wait until `unlock`.
    def lock
      @holder = PG.connect(postgres.url).tap { |connection| connection.exec("select pg_advisory_lock(1)") }
    end

    def unlock
      @holder.finish
      @holder = nil
    end

    # Clients that have sent a request.
    def ask_for(path, count)
      Array.new(count) { ask(@server, "GET", path) }
    end

    def statuses(clients)
      clients.map { |client| client.read_response.status }
    end

    # Waits until so many connections run a query that begins like this.
    def await_queries(query, count)
      like = "#{query}%"
      eventually(message: "#{count} times #{query}") { postgres.connections(like:, state: "active") == count }
    end

    # As many requests as the pool has connections get one each.
    def assert_turns(count)
      lock
      clients = ask_for("/wait", count)
      await_queries(WAIT, count)
      unlock
      assert_equal [200] * count, statuses(clients)
    end
  end
end
