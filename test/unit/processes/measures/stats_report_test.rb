# frozen_string_literal: true

require "test_helper"
require "carat/native"
require "carat/processes/measures/stats_report"
require "json"

module Carat
  class StatsReportTest < Minitest::Test
    include Support::Forked

    LIBRARY = File.expand_path("../../../../lib", __dir__)

    def test_stats_cover_the_heap_and_the_collector
      figures = Processes::StatsReport.new.to_h

      assert_equal RUBY_VERSION, figures[:ruby]
      assert_operator figures[:heap][:live_slots], :>, 1000
      assert_operator figures[:heap][:bytes], :>, 1_000_000
      assert_equal figures[:gc][:count], figures[:gc][:minor] + figures[:gc][:major]
      assert_equal 1, forked { Processes::StatsReport.new.to_h[:threads] }
    end

    def test_stats_include_those_of_the_worker
      stats = { worker: 1, lanes: [{ served: 2 }], gc_share: 0.25 }
      figures = Processes::StatsReport.new(stats).to_h

      assert_equal stats, figures[:stats]
      assert_in_delta 0.25, figures[:gc][:time_share]
    end

    def test_stats_name_the_jit_and_what_its_code_weighs
      skip "this Ruby has no YJIT that counts" unless RUBY_VERSION >= "3.3" && RubyVM.const_defined?(:YJIT)

      program = "100.times { [1].map(&:to_s) }; p Carat::Processes::JIT.to_h"
      words = ["--yjit", "--disable-gems", "-I", LIBRARY, "-r", "carat/processes/measures/jit", "-e", program]
      figures = IO.popen([RbConfig.ruby, *words], &:read)
      assert_match(/YJIT\W.*methods\W+[1-9]\d*, .*code\W+[1-9]\d{3,}, .*metadata\W+[1-9]\d+/, figures)
    end

    def test_share_of_gc_time_is_nil_in_a_mold
      assert_nil Processes::StatsReport.new.to_h[:gc][:time_share]
    end

    def test_stats_are_short_json
      lanes = Array.new(100) { { capacity: 1, running: 0, served: 10**9 } }
      json = Processes::StatsReport.new({ lanes: }).to_json

      assert_equal RUBY_VERSION, JSON.parse(json)["ruby"]
      assert_operator json.bytesize, :<, 64 * 1024
    end

    def test_stats_need_no_gem_that_the_application_chooses
      program = "module Carat; Processes::StatsReport.new.to_json; end; p defined?(JSON)"
      words = ["-r", "carat/processes/measures/stats_report", "-e", program]

      assert_equal "nil\n", IO.popen([RbConfig.ruby, "--disable-gems", "-I", LIBRARY, *words], &:read)
    end
  end
end
