# frozen_string_literal: true

require "minitest/autorun"
require "stringio"
require "carat/cli/server/memory"
require "carat/cli/program"
require_relative "../../../support/workplace"

module Carat
  class MemoryTest < Minitest::Test
    include Support::Workplace

    def test_help_explains_each_column_and_each_flag
      text = run_cli("--help").last

      CLI::Memory::Table::COLUMNS.each_key { |column| assert_match(/^#{column} +\S.*\S/, text) }
      %w[--pid --json --control-socket --config].each { |flag| assert_match(/^ .* #{flag}/, text) }
    end

    def test_without_a_server_there_is_one_line_and_no_application_is_needed
      File.delete("config.ru")

      assert_equal [1, "carat: #{path("carat.sock")}: no server listens there\n"],
                   run_cli("--control-socket", "carat.sock")
      assert_match(/\A\[1, "carat: no server of yours has the process id 42; start one, .*\\n"\]\z/,
                   run_cli("--pid", "42").inspect)
    end

    def test_configuration_may_name_the_socket
      write("carat.rb", "control_socket \"here.sock\"\n")

      assert_equal [1, "carat: #{path("here.sock")}: no server listens there\n"], run_cli
    end

    def test_wrong_words_name_what_is_wrong
      assert_equal [78, "--pid: \"x\" is not a whole number of 1 or more\n"], run_cli("--pid", "x")
      assert_equal [78, "--pid: needs a value\n"], run_cli("--pid")
      assert_equal [78, "--json: takes no value\n"], run_cli("--json=yes")
      assert_equal [78, "--jsn: no such flag; did you mean --json? (carat memory --help lists them)\n"],
                   run_cli("--jsn")
      assert_equal [78, "42: no argument is expected here\n"], run_cli("42")
    end

    private

    def run_cli(*words)
      out = StringIO.new
      status = CLI::Program.new(["memory", *words], env: {}, out:, err: out).run
      [status, out.string]
    end
  end
end
