# frozen_string_literal: true

require "open3"
require "test_helper"

# The health check of deploy/docker/Dockerfile, which runs without Ruby.
class ImageHealthTest < Support::IntegrationTest
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
    Open3.capture2e({ "PORT" => port.to_s }, *health_check.first).last
  end
end
