# frozen_string_literal: true

require "minitest/autorun"
require "rbconfig"
require "carat/processes/measures/jit"

module Carat
  # Each case is a process of its own: a compiler stays enabled.
  class JITTest < Minitest::Test
    LIBRARY = File.expand_path("../../../../lib", __dir__)
    RAILS = "Rails = Struct.new(:application).new(Struct.new(:config).new(Struct.new(:yjit).new(false))); "

    def test_auto_enables_yjit_outside_of_development
      skip_without_enable
      assert_equal ["\"YJIT\"", "nil", "nil"], %w[production development test].map { |name| enabled("auto", name) }
    end

    def test_auto_leaves_the_decision_to_rails_and_to_whoever_starts_ruby
      skip_without_enable
      assert_equal "nil", enabled("auto", "production", before: RAILS)
      assert_equal "nil", enabled("auto", "production", env: { "RUBYOPT" => "--disable-yjit" })
    end

    def test_a_compiler_that_is_named_is_enabled_everywhere
      skip_without_enable
      assert_equal "\"YJIT\"", enabled("yjit", "development")
      assert_equal "jit: YJIT is enabled already", enabled("zjit", "production", env: { "RUBYOPT" => "--yjit" })
    end

    def test_off_keeps_the_application_from_enabling_one
      skip_without_enable
      enable = "RubyVM::YJIT.enable; "
      assert_equal "\"YJIT\"", enabled("off", "production", before: enable)
      assert_equal "nil", enabled("off", "production", before: "Carat::Processes::JIT.reserve('off'); #{enable}")
    end

    def test_a_compiler_that_is_named_comes_before_that_of_the_application
      skip "this Ruby has no ZJIT" unless RubyVM.const_defined?(:ZJIT) && RubyVM::ZJIT.respond_to?(:enable)
      before = "Carat::Processes::JIT.reserve('zjit'); RubyVM::YJIT.enable; "
      assert_equal "\"ZJIT\"", enabled("zjit", "production", before:)
    end

    def test_a_compiler_that_this_ruby_lacks_is_an_error
      skip "this Ruby has ZJIT" if RubyVM.const_defined?(:ZJIT)
      assert_equal "jit: this Ruby cannot enable ZJIT", enabled("zjit", "production")
    end

    private

    def skip_without_enable
      can = RubyVM.const_defined?(:YJIT) && RubyVM::YJIT.respond_to?(:enable)
      skip "YJIT of this Ruby cannot be enabled" unless can
    end

    # What is enabled in a new process afterward, or the error.
    def enabled(choice, environment, before: "", env: {})
      program = "#{before}Carat::Processes::JIT.enable(*ARGV); p Carat::Processes::JIT.name"
      program = "begin; #{program}; rescue Carat::Config::ConfigError => e; puts e.message; end"
      words = ["--disable-gems", "-I", LIBRARY, "-r", "carat/processes/measures/jit", "-e", program,
               choice, environment]
      IO.popen([{ "RUBYOPT" => nil, **env }, RbConfig.ruby, *words], &:read).chomp
    end
  end
end
