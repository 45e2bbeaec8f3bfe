# frozen_string_literal: true

require "test_helper"
require "carat/log/developer_report"

module Carat
  class DeveloperReportTest < Minitest::Test
    include Support::Workplace

    def test_the_source_and_the_frames_of_the_application_come_before_all_frames
      write("app/shop.rb", "def cheapest(items)\n  items\n    .fetch(3)\nend\n")
      write("vendor/gem.rb", "def through = yield\n")
      write("config.ru", "def run_shop = through { cheapest([]) }\n")
      error, source, frames, all = report { run_shop }.split("\n\n")

      assert_match(/index 3 outside of array bounds.*\(IndexError\)\z/, error)
      assert_equal "     1 | def cheapest(items)\n     2 |   items\n>    3 |     .fetch(3)\n     4 | end", source
      assert_match(/^app\/shop\.rb:3:in \S*cheapest\nconfig\.ru:1:in block in \S*run_shop\nconfig\.ru:1:in /, frames)
      assert_match(/\A\tfrom .*vendor\/gem\.rb:1/m, all)
    end

    # An application may override any method of its errors.
    class Treacherous < StandardError
      def backtrace_locations = raise("no locations")
    end

    def test_an_error_without_frames_or_source_is_reported_without
      [RuntimeError, Treacherous].each { |type| refute_includes Log::DeveloperReport.new(type.new("x")).to_s, "\n\n" }
      write("config.ru", "def run_shop = raise(\"caf\\xE9\".b)\n")
      error = assert_raises(RuntimeError) { load_all && run_shop }
      FileUtils.rm("config.ru")

      assert_match(/caf\\xe9 \(RuntimeError\)\n\nconfig\.ru:1:in/, Log::DeveloperReport.new(error).to_s)
    end

    private

    def report(&)
      load_all
      Log::DeveloperReport.new(assert_raises(IndexError, &)).to_s
    end

    def load_all
      Dir["{app,vendor}/*.rb"].each { |name| load path(name) }
      Object.class_eval(File.read("config.ru"), path("config.ru"))
    end
  end
end
