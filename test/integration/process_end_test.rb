# frozen_string_literal: true

require "test_helper"

# What ends a server, and what does not.
class ProcessEndTest < Support::IntegrationTest
  OK = "run ->(_env) { [200, {}, []] }"

  def test_signals_that_other_servers_know_are_ignored_with_a_warning
    server = serve(OK)
    %w[USR1 USR2].each do |name|
      server.kill(name)
      await_log(server, / warn signal ignored: TERM ends the server, HUP opens the log file again signal=#{name}$/)
    end

    assert_equal 200, server.get.status
  end
end
