# frozen_string_literal: true

require "test_helper"
require "carat/config/configuration"
require "carat/parts/doctor/memory/mold_memory"
require "support/workplace"

module Carat
  class MoldMemoryTest < Minitest::Test
    include Support::Workplace

    MIB = 1 << 20
    # What the application drops while it boots, and what its first request keeps.
    DROPPED = 96
    KEPT = 48
    APP = <<~RUBY
      "x" * #{DROPPED * MIB}
      GC.start
      run(lambda do |_env|
        $kept ||= "x" * #{KEPT * MIB}
        [200, {}, []]
      end)
    RUBY
    PLAIN = "run ->(_env) { [200, {}, []] }\n"

    def test_what_warm_up_requests_keep_counts_and_what_the_boot_has_dropped_counts_at_the_peak
      plain = measured(PLAIN)
      heavy = measured(APP, "warm_up=/")

      assert_in_delta KEPT, (heavy.ready - plain.ready).fdiv(MIB), 4
      assert_in_delta DROPPED, (heavy.peak - plain.ready).fdiv(MIB), 8
      assert_in_delta 0, (measured(APP).ready - plain.ready).fdiv(MIB), 4
    end

    def test_the_process_runs_the_jit_that_the_configuration_chooses
      skip "no YJIT that this Ruby can enable" unless RubyVM.const_defined?(:YJIT) && RubyVM::YJIT.respond_to?(:enable)

      app = 'run(->(_env) { $kept ||= RubyVM::YJIT.enabled? && ("x" * %d) and [200, {}, []] })' % (KEPT * MIB)
      with, without = %w[yjit off].map { |jit| measured("#{app}\n", "warm_up=/", "jit=#{jit}").ready }

      assert_operator with - without, :>, KEPT / 2 * MIB, "nothing is kept without the JIT"
    end

    def test_an_application_that_cannot_be_loaded_has_none
      assert_nil measured("raise 'no'")
    end

    private

    def measured(app, *words)
      write("config.ru", app)
      words = ["rackup=#{path("config.ru")}", "environment=production", *words]
      CLI::Doctor::MoldMemory.measured(Config::Configuration.from_words(words, env: {}), memory: 512 * MIB)
    end
  end
end
