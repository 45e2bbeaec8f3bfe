# frozen_string_literal: true

require "test_helper"

# Clients that hold on to what the server needs.
class HostileClientTest < Support::IntegrationTest
  ECHO = 'run ->(env) { [200, {}, ["x" * env["QUERY_STRING"].to_i]] }'
  TIMEOUT = %w[--write-timeout 0.5 --idle-timeout 0.5 --header-timeout 0.5].freeze

  # The response fits into no socket buffer, and the refusal of the bytes behind it waits.
  [68, 128, 192].each do |kib|
    define_method("test_a_client_that_reads_no_refusal_is_cut_after_a_response_of_#{kib}_kib") do
      server = serve(ECHO, args: [*TIMEOUT, "--access-log"])
      idle = descriptors(server)
      client = connect_narrowly(server).write("GET /?#{kib * 1024} HTTP/1.1\r\nHost: a\r\n\r\nBAD\r\n\r\n")

      await_log(server, /" 200 /)
      eventually(within: 25) { assert_operator descriptors(server), :<=, idle }
      client.close
    end
  end

  def test_clients_that_read_nothing_before_their_refusals_do_not_fill_the_server
    server = serve(ECHO, args: [*TIMEOUT, "--max-connections", "40"])
    clients = Array.new(40) { connect_narrowly(server).write("GET /?150000 HTTP/1.1\r\nHost: a\r\n\r\nBAD\r\n\r\n") }

    assert_equal 200, server.get("/").status
    clients.each(&:close)
    assert_equal 0, server.stop(within: 25).exitstatus
  end

  # What it has sent ahead fills the buffer, so that the end of the connection is not read.
  def test_the_queued_request_of_a_client_that_is_gone_does_not_run
    server = serve(Support::Gate::APP, threads: 1, args: ["--access-log"])
    busy = ask(server, "GET", "/gate")
    await_arrivals(server, 1)
    server.connect.write("POST /never HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n#{"x" * 20_000}").close
    await_log(server, %r{POST /never HTTP/1.1" 499 })
    server.gate.open

    assert_equal [200, 200], [busy.read_response.status, server.get("/next").status]
    assert_equal %w[/gate /next], server.gate.arrivals.map(&:path)
  end

  private

  def descriptors(server)
    Support::ProcessTree.descriptors(server.pid)
  end
end
