# frozen_string_literal: true

require "test_helper"

# A soft limit of open files that is too low.
class OpenFilesTest < Support::IntegrationTest
  APP = "run ->(_env) { [200, {}, [Process.getrlimit(:NOFILE).inspect]] }"

  def test_the_soft_limit_is_raised_to_the_hard_one
    server = serve(APP, spawn: { rlimit_nofile: [256, 4096] })
    assert_equal "[4096, 4096]", server.get.body
    assert_match(/^Max open files +4096 +4096 /, File.read("/proc/#{server.pid}/limits"))
  end

  def test_more_clients_than_the_soft_limit_are_served
    server = serve(APP, spawn: { rlimit_nofile: [256, 4096] })
    clients = Array.new(400) { server.connect }
    assert_equal [200], clients.map { |client| client.get.status }.uniq
  ensure
    clients&.each(&:close)
  end
end
