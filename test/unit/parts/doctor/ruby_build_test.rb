# frozen_string_literal: true

require "minitest/autorun"
require "carat/parts/doctor/ruby_build"

module Carat
  class DoctorRubyBuildTest < Minitest::Test
    # Replaces Processes::JIT: `built` compilers, the one that runs (`name`), and the one that jit chooses, or an error.
    JIT = Struct.new(:built, :name, :choice) do
      def chosen(*) = choice.is_a?(Exception) ? raise(choice) : choice
      def local?(environment) = environment == "development"
      def remark(choice) = ("jit is off, but" if choice == "off" && name)
    end
    BOTH = %w[YJIT ZJIT].freeze

    def test_the_compilers_and_the_choice_are_reported
      assert_equal "is built without YJIT, which makes most applications faster", sentence([], nil, nil)
      assert_equal 'has YJIT and ZJIT; jit "auto" enables YJIT, unless the application decides (Rails: config.yjit)',
                   sentence(BOTH, nil, "YJIT")
      assert_equal 'has YJIT and ZJIT; jit "zjit" enables ZJIT', sentence(BOTH, nil, "ZJIT", jit: "zjit")
      assert_equal "has YJIT; YJIT is enabled", sentence(%w[YJIT], "YJIT", nil)
    end

    def test_the_reason_for_none_is_reported
      assert_equal 'has YJIT; jit "auto" enables none in development',
                   sentence(%w[YJIT], nil, nil, environment: "development")
      assert_equal 'has YJIT; jit "auto" enables none: RUBYOPT decides, or only RUBYOPT=--yjit can',
                   sentence(%w[YJIT], nil, nil)
      assert_equal 'has YJIT; jit "off" enables none', sentence(%w[YJIT], nil, nil, jit: "off")
    end

    def test_what_cannot_be_done_is_a_warning_or_a_problem
      assert_match(/\Awarning  ruby: .*; jit is off, but/, finding(%w[YJIT], "YJIT", nil, jit: "off").to_s)
      failure = Config::ConfigError.new("jit: this Ruby cannot enable ZJIT")
      assert_match(/\Aproblem  ruby: .* has YJIT; jit: this Ruby cannot/,
                   finding(%w[YJIT], nil, failure, jit: "zjit").to_s)
    end

    private

    def sentence(...)
      finding(...).sentence.delete_prefix("#{RUBY_VERSION} ")
    end

    def finding(built, name, choice, jit: "auto", environment: "production")
      CLI::Doctor::RubyBuild.new({ jit:, environment: }, jit: JIT.new(built, name, choice)).finding
    end
  end
end
