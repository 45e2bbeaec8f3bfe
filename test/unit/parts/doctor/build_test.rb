# frozen_string_literal: true

require "minitest/autorun"
require "carat/parts/doctor/build"
require_relative "../../../support/workplace"

module Carat
  class DoctorBuildTest < Minitest::Test
    include Support::Workplace

    def test_complete_build_is_found
      assert_equal :ok, CLI::Doctor::Build.new({}, stale: nil).finding.level
    end

    def test_build_of_older_sources_is_a_warning
      write("digest", "0" * 64)
      sentence = NativePath.stale(path("digest"))

      assert_equal "built from older sources: #{NativePath.remedy}", sentence
      assert_equal :warning, CLI::Doctor::Build.new({}, stale: sentence).finding.level
      assert_nil NativePath.stale(path("none"))
    end

    def test_missing_build_is_a_problem_with_a_remedy
      assert_problem "not built for Ruby #{NativePath::ABI}: #{NativePath.remedy}", directory: nil
    end

    def test_edge_without_execute_permission_is_a_problem
      write("carat/carat-edge", "")

      assert_problem "#{path("carat/carat-edge")} is not executable", edge: path("carat/carat-edge")
    end

    def test_extension_that_fails_to_load_is_a_problem
      assert_problem("libruby.so: cannot open; #{NativePath.remedy}", directory: NativePath.directory) do
        raise LoadError, "libruby.so: cannot open\nmore"
      end
    end

    private

    def assert_problem(sentence, ...)
      assert_equal CLI::Doctor::Finding.problem("build", sentence), CLI::Doctor::Build.new({}, ...).finding
    end
  end
end
