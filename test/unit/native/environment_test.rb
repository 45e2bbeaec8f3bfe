# frozen_string_literal: true

require "carat/request/env_template"
require "test_helper"

module Carat
  # The environment of a warm-up request.
  module ::Native
    class EnvironmentTest < Support::NativeTest
      def test_it_is_the_one_that_a_lane_builds_of_the_same_request
        lane = harness
        lane.send_bytes(Support::Wire.request(1, path: "/a", query: "b=1&c=?", headers: { "host" => "localhost" }))
        expected = comparable(lane.slot.take)

        assert_instance_of Request::Hijack, expected.delete("rack.hijack")
        assert_equal expected.merge("rack.hijack?" => false),
                     comparable(Carat::Native.environment(template(lane), "/a?b=1&c=?", false))
      end

      def test_without_a_question_mark_the_query_is_empty
        env = Carat::Native.environment(template(harness), "/login", true)

        assert_equal ["/login", "", "/login"], env.values_at("PATH_INFO", "QUERY_STRING", "REQUEST_URI")
        assert_equal "https", env["rack.url_scheme"]
        assert_equal ["", nil], [env["rack.input"].read, env["CONTENT_LENGTH"]]
      end

      def test_each_environment_has_lists_of_its_own
        envs = Array.new(2) { Carat::Native.environment(template(harness), "/", false) }

        refute_same(*envs.map { |env| env["rack.after_reply"] })
      end

      private

      def template(lane)
        Request::EnvTemplate.new(release: "2.2.0", capacity: 1, several: false, spool_dir: Dir.tmpdir,
                                 errors: lane.errors).to_h
      end

      def comparable(env)
        env.merge("rack.input" => [env["rack.input"].class, env["rack.input"].read])
      end
    end
  end
end
