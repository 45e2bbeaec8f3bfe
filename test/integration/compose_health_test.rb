# frozen_string_literal: true

require "open3"
require "test_helper"
require "support/deploy_files"

# The health check of deploy/compose/compose.yaml, which runs without Ruby.
class ComposeHealthTest < Support::IntegrationTest
  include Support::DeployFiles

  def test_the_check_succeeds_with_200_and_fails_with_anything_else
    server = serve("run ->(env) { [env[\"PATH_INFO\"] == \"/up\" && !File.exist?(\"down\") ? 200 : 503, {}, []] }")

    assert_predicate check(server.port), :success?
    server.directory.write("down", "")
    refute_predicate check(server.port), :success?
    server.stop
    refute_predicate check(server.port), :success?
  end

  private

  def check(port)
    program, *command = compose.dig("healthcheck", "test")
    assert_equal "CMD", program
    Open3.capture2e(*command.map { |word| word.sub("/3000 ", "/#{port} ") }).last
  end
end
