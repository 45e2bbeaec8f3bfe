# frozen_string_literal: true

require "test_helper"
require "socket"

# Each example of docs/reactor.md runs.
class ReactorDocsTest < Support::SchedulerTest
  PAGE = File.expand_path("../../../../../docs/reactor.md", __dir__)
  EXAMPLES = File.read(PAGE).scan(/^```ruby\n(.*?)^```/m).flatten.freeze

  def test_an_echo_server
    scope = own_scope
    running = Thread.new { example(0, scope) }
    server = Support::Eventually.eventually { defined_in(scope, :server) }
    client = TCPSocket.new("127.0.0.1", server.addr[1])
    client.write("hello")
    assert_equal "hello", client.readpartial(10)
    client.close
    scope.local_variable_get(:reactor).stop
    assert running.join(DEADLINE_SECONDS)
    server.close
  end

  def test_a_reactor_for_each_thread
    scope = own_scope
    in_thread { example(1, scope) }
    assert_equal 6, scope.local_variable_get(:ticks).size
  end

  def test_errors_with_a_handler
    scope = own_scope
    in_thread { example(2, scope) }
    assert_equal ["this one", "and on"], scope.local_variable_get(:messages)
  end

  def test_every_example_is_tested
    assert_equal 3, EXAMPLES.size
  end

  private

  # The examples have names of their own because another thread runs them beside the test.
  def own_scope
    binding
  end

  def defined_in(scope, name)
    scope.local_variable_defined?(name) && scope.local_variable_get(name)
  end

  def example(number, scope)
    scope.eval(EXAMPLES.fetch(number), PAGE)
  end
end
