# frozen_string_literal: true

require "minitest/autorun"
require "carat/parts/doctor/spool/spool_file"
require_relative "../../../../support/workplace"

module Carat
  class DoctorSpoolFileTest < Minitest::Test
    include Support::Workplace

    # A file system without O_TMPFILE.
    module Old
      def self.create_nameless(_directory)
        raise Errno::EOPNOTSUPP
      end

      def self.create_named(directory)
        Response::Spool.create_named(directory)
      end
    end

    def test_writable_directory_is_ok_and_stays_empty
      File.delete("config.ru")

      assert_equal [:ok, []], [check.finding.level, Dir.children(@workplace)]
    end

    def test_file_system_without_o_tmpfile_is_ok_and_reported
      finding = check(spool: Old).finding

      assert_equal :ok, finding.level
      assert_match(/has no O_TMPFILE/, finding.sentence)
      assert_equal ["config.ru"], Dir.children(@workplace)
    end

    def test_unwritable_directory_is_a_problem
      finding = check("/proc").finding

      assert_equal :problem, finding.level
      assert_match(%r{\Ano file can be created in /proc: No such file}, finding.sentence)
    end

    private

    def check(directory = @workplace, **options)
      CLI::Doctor::SpoolFile.new({ spool_dir: directory }, **options)
    end
  end
end
