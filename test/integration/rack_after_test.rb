# frozen_string_literal: true

require "rack"
require "test_helper"

# What happens in a worker beside requests: callables after the answer, the end of an application, hooks.
class RackAfterTest < Support::IntegrationTest
  def test_after_reply_runs_when_the_client_has_its_answer
    server = serve(<<~'RUBY', workers: 1, threads: 1)
      run lambda { |env|
        env["rack.after_reply"] << lambda {
          sleep 0.005 until File.exist?("go")
          $stderr.puts "replied"
        }
        [200, {}, ["ok"]]
      }
    RUBY
    assert_equal "ok", server.get.body
    refute_includes server.log, "replied"
    server.directory.write("go", "")
    eventually { server.log.include?("replied") }
  end

  def test_response_finished_runs_in_reverse_with_what_was_answered
    server = serve(<<~'RUBY', workers: 1, threads: 1)
      run lambda { |env|
        %w[first last].each do |name|
          env["rack.response_finished"] << lambda { |_env, status, headers, error|
            $stderr.puts "#{name} #{status.inspect} #{headers.inspect} #{error.inspect}"
          }
        end
        raise "broken" if env["PATH_INFO"] == "/raise"

        [201, { "x" => "y" }, ["ok"]]
      }
    RUBY
    server.get
    eventually { server.log.include?("first 201") }
    await_log(server, /^last 201 .*nil\nfirst 201 .*nil$/)
    assert_equal 500, server.get("/raise").status
    eventually { server.log.include?("first nil") }
    await_log(server, /^last nil nil #<RuntimeError: broken>\nfirst nil nil #<RuntimeError: broken>$/)
  end

  def test_a_worker_whose_application_exits_is_replaced_and_nobody_notices
    server = serve(<<~'RUBY', workers: 1, threads: 2)
      run ->(env) { env["PATH_INFO"] == "/exit" ? exit(3) : [200, {}, [Process.pid.to_s]] }
    RUBY
    before = server.get.body
    assert_equal 500, server.get("/exit").status
    eventually { server.get.tap { |response| assert_equal 200, response.status }.body != before }
  end
end
