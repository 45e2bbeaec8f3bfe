# frozen_string_literal: true

require "test_helper"

# Applications that fork in the middle of a request.
class RackForkTest < Support::SharedServerTest
  APP = <<~'RUBY'
    at_exit { $stderr.puts("at_exit in #{Process.pid}") }
    run(lambda do |env|
      child = env["PATH_INFO"] == "/" ? nil : Process.fork
      body = case env["PATH_INFO"]
             when "/stream" then Enumerator.new { |out| 2.times { out << (child ? "parent" : "child") } }
             when "/raise" then child ? ["parent"] : raise("in the child")
             else [child ? "parent" : "served"]
             end
      Process.detach(child) if child
      [200, {}, body]
    end)
  RUBY

  serves APP, threads: 2

  %w[array stream raise].each do |kind|
    define_method("test_a_forked_process_that_returns_does_not_respond_#{kind}") do
      client = connect
      3.times { assert_match(/\A(parent)+\z/, client.get("/#{kind}").body) }

      assert_equal "served", client.get("/").body
      eventually { assert_equal 3, log.scan("a process that the application forked returned").size }
      refute_match(/at_exit|leaving|died/, log)
    end
  end
end
