# frozen_string_literal: true

require "json"
require "test_helper"

class HandlerTest < Support::IntegrationTest
  LIBRARY = { "RUBYLIB" => File.join(Support::ServerOptions::ROOT, "lib") }.freeze
  WHO = 'run ->(env) { [200, {}, [[ENV["RACK_ENV"], Process.ppid, env["SERVER_PROTOCOL"]].join(" ")]] }'
  def test_rackup_becomes_the_server
    server = rackup("-o", "127.0.0.1", "-p", "0", "-E", "staging")

    assert_equal "staging #{server.pid} HTTP/1.1", server.get.body
    assert_equal 0, server.stop.exitstatus
    await_emptiness(server)
  end

  def test_rackup_takes_options_of_carat
    server = rackup("-o", "127.0.0.1", "-p", "0", "-O", "workers=2", "-O", "Threads=2")
    await_workers(server, 2)

    assert_equal [1 + 2] * 2, (server.workers.values.map { |pid| Support::ProcessTree.sockets(pid).size })
  end

  private

  def rackup(*args, **options)
    serve(WHO, flags: false, command: command("rackup"), args: ["-s", "carat", *args], env: LIBRARY, **options)
  end

  # A gem's command, run by this Ruby.
  def command(name)
    [RbConfig.ruby, "-S", name]
  end
end
