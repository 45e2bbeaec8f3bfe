# frozen_string_literal: true

require "test_helper"

# The first command of the README.
class ScriptServerTest < Support::IntegrationTest
  COMMAND = [File.join(Support::ServerOptions::ROOT, "script/server")].freeze

  # cargo compiles what has changed.
  def watchdog_seconds
    1800
  end

  def test_one_command_builds_carat_and_serves_the_upload_example
    server = server(app: nil, command: COMMAND).start(within: watchdog_seconds)
    page = server.get("/")

    assert_equal 200, page.status
    assert_includes page.body, "<form"
    assert_equal 0, server.stop.exitstatus
  ensure
    server&.stop if server&.running?
  end
end
