# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/application/doctor/ruby_build"

module Carat
  class DoctorRubyBuildTest < Minitest::Test
    Yjit = Struct.new(:enabled?)

    def test_yjit_is_reported_as_missing_enabled_or_disabled
      kinds = [nil, Yjit.new(false), Yjit.new(true)]
      sentences = kinds.map { |yjit| CLI::Doctor::RubyBuild.new({}, yjit:).finding.to_s }

      assert_match(/\Aok       ruby: #{RUBY_VERSION} is built without YJIT/, sentences[0])
      assert_match(/has YJIT, which the option `jit` enables/, sentences[1])
      assert_match(/runs with YJIT/, sentences[2])
    end
  end
end
