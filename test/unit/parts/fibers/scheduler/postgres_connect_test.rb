# frozen_string_literal: true

require "test_helper"
require "socket"

module Scheduler
  # How the driver `pg` connects to its server.
  class PgConnectTest < Support::PostgresTest
    TLS = "select ssl from pg_stat_ssl where pid = pg_backend_pid()"

    # A server that listens on a port too.
    class Server < Support::Postgres
      def initialize
        super(tcp: true)
      end
    end

    def test_a_certificate_is_checked_for_the_name
      certificate = File.join(postgres.directory, "data/server.crt")
      url = postgres.tcp_url("localhost", sslmode: "verify-full", sslrootcert: certificate)
      fibers { assert_equal [["t"]], connect(url).exec(TLS).values }
    end

    def test_a_query_over_tls_waits_while_others_run
      fibers do
        done = nil
        hold_until_waiting(1) { go { done = connect(postgres.tcp_url(sslmode: "require")).exec(WAIT) } }
        give_way_until { done }
      end
    end

    def test_a_name_without_an_address_is_an_error
      fibers { assert_raises(PG::ConnectionBad) { PG.connect(host: "no.such.name.invalid") } }
    end

    def test_a_server_that_does_not_answer_blocks_only_the_fiber_that_connects
      mute = TCPServer.new("127.0.0.1", 0)
      fibers do
        fiber = go { assert_raises(PG::ConnectionBad) { PG.connect(host: "127.0.0.1", port: mute.addr[1]) } }
        peer = mute.accept
        peer.readpartial(1)
        10.times { assert_predicate fiber, :alive? if sleep(0.001) }
        peer.close
        mute.close
      end
    end

    def test_a_server_that_does_not_answer_in_time_is_an_error
      mute = TCPServer.new("127.0.0.1", 0)
      fibers do
        assert_raises(PG::ConnectionBad) { PG.connect(host: "127.0.0.1", port: mute.addr[1], connect_timeout: 2) }
      end
    ensure
      mute.close
    end

    private

    def postgres
      Server.shared
    end
  end
end
