# frozen_string_literal: true

require "test_helper"

# What is left when the edge, which everything else depends on, is killed.
class ProcessOrphanTest < Support::IntegrationTest
  def test_mold_and_idle_workers_die_with_the_edge
    server = serve(Support::Gate::APP, workers: 2)
    await_workers(server, 2)

    assert_nobody_is_left(server)
  end

  def test_worker_that_never_lets_go_of_the_lock_dies_with_the_edge
    server = serve("run ->(_env) { File.write(\"arrivals\", \"GET / 0\\n\"); #{Support::Gate::GVL_HOLDER} }")
    ask(server, "GET", "/")
    await_arrivals(server, 1)

    assert_nobody_is_left(server)
  end

  def test_mold_that_loads_dies_with_the_edge
    server = server(app: "File.write(\"arrivals\", \"BOOT / 0\"); loop { }")
    server.launch.close
    await_arrivals(server, 1)

    assert_nobody_is_left(server)
  end

  def test_worker_that_boots_dies_with_the_edge
    server = server(config: 'after_fork { File.write("arrivals", "BOOT / 0"); sleep }')
    server.launch.close
    await_arrivals(server, 1)

    assert_nobody_is_left(server)
  end

  private

  def assert_nobody_is_left(server)
    refute_empty server.children
    server.kill(:KILL)
    server.wait
    eventually(message: "the end of all processes") { server.processes.empty? }
  end
end
