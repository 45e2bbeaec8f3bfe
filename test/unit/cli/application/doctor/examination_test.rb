# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/application/doctor/examination"
require "carat/cli/application/doctor/finding"

module Carat
  class ExaminationTest < Minitest::Test
    # A check that has found what the configuration says.
    class Parrot
      def initialize(configuration)
        @level = configuration[:level]
      end

      def finding
        CLI::Doctor::Finding.new(@level, "parrot", "has spoken")
      end
    end

    def test_each_check_has_one_finding
      examination = CLI::Doctor::Examination.new({ level: :warning }, checks: [Parrot, Parrot])

      assert_equal ["warning  parrot: has spoken"] * 2, examination.findings.map(&:to_s)
    end

    def test_only_problems_are_unhealthy
      healthy = %i[ok warning problem].map do |level|
        CLI::Doctor::Examination.new({ level: }, checks: [Parrot]).healthy?
      end

      assert_equal [true, true, false], healthy
    end

    def test_every_file_of_a_check_is_in_the_table
      directory = File.expand_path("../../../../../lib/carat/cli/application/doctor", __dir__)
      files = Dir["#{directory}/**/*.rb"].map { |path| File.basename(path) } - %w[examination.rb finding.rb]

      assert_equal files.sort, CLI::Doctor::Examination::CHECKS.map { |check| file_of(check) }.sort
    end

    private

    def file_of(check)
      "#{check.name.split("::").last.gsub(/(?<=[a-z])[A-Z]/) { |letter| "_#{letter}" }.downcase}.rb"
    end
  end
end
