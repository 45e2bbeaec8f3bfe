# frozen_string_literal: true

require "test_helper"
require "json"
require "support/controlled_server"

# Requests that say that they mostly wait, until the test opens a gate.
class IoBoundTest < Support::IntegrationTest
  include Support::ControlledServer

  APP = Support::Gate::APP.sub("sleep 0.005", <<~RUBY.chomp)
    mark = { "/gate/io" => "carat.io_bound", "/gate/puma" => "puma.mark_as_io_bound" }[env["PATH_INFO"]]
    2.times { env.fetch(mark).call } if mark
    sleep 0.005
  RUBY

  def test_each_request_that_only_waits_makes_room_for_another_within_a_bound
    server = start("--threads", "1", "--max-io-threads", "1")
    clients = [ask(server, "GET", "/gate/io")]
    await_arrivals(server, 1)
    assert_equal 200, server.get("/front").status

    clients += [ask(server, "GET", "/gate/puma")].tap { await_arrivals(server, 3) }
    clients << ask(server, "GET", "/late")
    eventually { waiting(server) == 1 }
    server.gate.open
    assert_equal [200] * 3, (clients.map { |client| client.read_response.status })
    assert_equal %w[/gate/io /front /gate/puma /late], server.gate.arrivals.map(&:path)
  end

  def test_further_threads_are_for_others_than_requests_that_compute
    server = start("--threads", "1", "--max-io-threads", "3")
    clients = [ask(server, "GET", "/gate/computes")]
    await_arrivals(server, 1)
    clients << ask(server, "GET", "/late")
    eventually { waiting(server) == 1 }
    server.gate.open
    assert_equal [200] * 2, (clients.map { |client| client.read_response.status })
  end

  def test_with_fibers_there_is_nothing_to_say
    server = start("--fibers", "2")
    server.gate.open
    assert_equal 200, server.get("/gate/io").status
  end

  private

  def start(*args)
    serve(APP, args: [*args, "--control-socket", "carat.sock"])
  end

  def waiting(server)
    status(server).fetch("waiting")
  end
end
