# frozen_string_literal: true

require "test_helper"

# What a stop runs of the application's own, and in which order.
class ProcessEndTest < Support::IntegrationTest
  TOLD = 'tell = ->(who) { File.write("told", "#{who}\n", mode: "a") }'
  ENDLESS = <<~RUBY
    #{TOLD}
    owner = Process.pid
    at_exit { tell.call("mold") if Process.pid == owner }
    run(lambda do |_env|
      body = Enumerator.new do |out|
        loop do
          out << "more"
          sleep 0.01
        end
      end
      [200, {}, body]
    end)
  RUBY
  OK = "run ->(_env) { [200, {}, []] }"

  def test_hooks_run_though_a_client_stays_for_longer_than_shutdown_timeout
    server = serve(ENDLESS, workers: 3, threads: 1, args: %w[--shutdown-timeout 500ms], config: <<~RUBY)
      #{TOLD}
      on_worker_shutdown { tell.call("worker") }
    RUBY
    await_workers(server, 3)
    ask(server, "GET", "/").read_exactly("HTTP/1.1 200".bytesize)

    assert_equal 0, server.stop.exitstatus
    assert_equal %w[worker worker worker mold], server.directory.read("told").lines(chomp: true)
    await_emptiness(server)
  end

  def test_the_mold_clears_away_only_what_no_worker_needs_any_more
    app = "Dir.mkdir('shared'); owner = Process.pid; at_exit { Dir.rmdir('shared') if Process.pid == owner }; #{OK}"
    server = serve(app, workers: 2, config: <<~RUBY)
      on_worker_shutdown do
        100.times { sleep 0.01 if File.directory?("shared") }
        File.write("told", File.directory?("shared") ? "there\n" : "gone\n", mode: "a")
      end
    RUBY
    await_workers(server, 2)

    assert_equal 0, server.stop.exitstatus
    assert_equal "there\nthere\n", server.directory.read("told")
    refute File.exist?(File.join(server.directory.path, "shared"))
  end
end
