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

    def test_off_says_that_ruby_was_started_with_a_compiler
      skip_without_enable
      remark = "p(Carat::Processes::JIT.remark('off')); "
      assert_equal "nil\nnil", enabled("off", "production", before: remark)
      said = enabled("off", "production", before: remark, env: { "RUBYOPT" => "--yjit" })
      assert_equal "\"jit is \\\"off\\\", but YJIT was enabled before, such as by RUBYOPT\"\n\"YJIT\"", said
    end

    def test_little_memory_bounds_what_the_compiler_may_use
      skip_without_enable
      skip "before Ruby 4.0" unless RubyVM::YJIT.method(:enable).parameters.include?(%i[key mem_size])
      spy = "RubyVM::YJIT.define_singleton_method(:enable) { |mem_size: nil, stats: nil| p mem_size }; "
      { 100 => 16, 512 => 32, 4096 => nil }.each do |memory, expected|
        said = enabled("yjit", "production", before: spy, options: { memory: memory << 20 })
        assert_equal "#{expected.inspect}\nnil", said
      end
    end

    private

    def skip_without_enable
      can = RubyVM.const_defined?(:YJIT) && RubyVM::YJIT.respond_to?(:enable)
      skip "YJIT of this Ruby cannot be enabled" unless can
    end

    # What is enabled in a new process afterward, or the error.
    def enabled(choice, environment, before: "", env: {}, options: {})
      program = "#{before}Carat::Processes::JIT.enable(*ARGV, **#{options}); p Carat::Processes::JIT.name"
      program = "begin; #{program}; rescue Carat::Config::ConfigError => e; puts e.message; end"
      words = ["--disable-gems", "-I", LIBRARY, "-r", "carat/processes/measures/jit", "-e", program,
               choice, environment]
      IO.popen([{ "RUBYOPT" => nil, **env }, RbConfig.ruby, *words], &:read).chomp
    end
  end
end
