# frozen_string_literal: true

require "test_helper"
require "carat/processes/measures/oom_score"
require "tempfile"

module Carat
  class OomScoreTest < Minitest::Test
    def test_score_is_raised_from_that_of_the_server
      assert_equal "-200", score_after("-500\n", 300)
      assert_equal "300", score_after("0\n", 300)
    end

    def test_promoted_mold_has_the_score_of_molds
      Tempfile.create("score") do |file|
        file.tap { |out| out.write("0\n") }.flush
        score = Processes::OomScore.new(file: file.path)
        score.raise_by(Processes::OomScore::WORKER)
        score.raise_by(Processes::OomScore::MOLD)

        assert_equal "100", File.read(file.path)
      end
    end

    def test_score_stays_within_the_maximum_of_the_kernel
      assert_equal "1000", score_after("950\n", 300)
    end

    def test_score_stays_without_permission
      assert_nil Processes::OomScore.new(file: "/no/such/file").raise_by(300)
      assert_nil Processes::OomScore.new(file: "/").raise_by(300)
    end

    private

    def score_after(text, more)
      Tempfile.create("score") do |file|
        file.tap { |out| out.write(text) }.flush
        Processes::OomScore.new(file: file.path).raise_by(more)
        File.read(file.path)
      end
    end
  end
end
