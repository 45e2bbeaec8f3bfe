# frozen_string_literal: true

require "test_helper"

class ProcessPoolTest < Support::IntegrationTest
  def test_workers_times_threads_requests_run_at_once_and_no_more
    server = serve(Support::Gate::APP, workers: 2, threads: 3)
    await_workers(server, 2)
    clients = Array.new(8) { |number| ask(server, "GET", "/gate/#{number}") }
    await_arrivals(server, 6)
    see_edge_go_round(server)

    assert_equal [3, 3], server.gate.arrivals.group_by(&:pid).values.map(&:size)
    server.gate.open
    assert_equal [200] * 8, (clients.map { |client| client.read_response.status })
  end

  def test_every_process_says_what_it_is
    server = serve(Support::Gate::APP, workers: 3, threads: 1)
    await_workers(server, 3)

    titles = server.children.map { |pid| Support::ProcessTree.title(pid) }
    assert_equal ["carat: mold gen=1", *Array.new(3) { |number| "carat: worker=#{number + 1} gen=1" }], titles.sort
    assert_equal "carat-edge", Support::ProcessTree.title(server.pid)
  end

  def test_a_mold_says_its_generation_while_it_loads_the_application
    app = "title = File.read(\"/proc/self/cmdline\").delete(\"\\0\").strip; run ->(_env) { [200, {}, [title]] }"

    assert_equal "carat: mold gen=1", serve(app).get.body
  end

  def test_no_process_holds_a_socket_of_another
    server = serve(Support::Gate::APP, workers: 3, threads: 2)
    await_workers(server, 3)
    sockets = server.children.to_h { |pid| [pid, Support::ProcessTree.sockets(pid)] }

    assert_equal [1, 3, 3, 3], sockets.values.map(&:size).sort, "one for control, one for each lane"
    assert_empty sockets.values.flatten.tally.select { |_, holders| holders > 1 }
  end
end
