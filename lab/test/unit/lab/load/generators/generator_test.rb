# frozen_string_literal: true

require "fileutils"
require "minitest/autorun"
require "tmpdir"
require "carat/lab/load/generators/generator"

module Carat
  class LabGeneratorTest < Minitest::Test
    REPORT = "carat requests=5 duration=1000000 connect=0 read=0 write=0 timeout=0 status=0 p50=1 p75=1 p90=1 p99=1 " \
             "p99.9=1 max=1"

    def setup
      @directory = Dir.mktmpdir
    end

    def teardown
      FileUtils.remove_entry(@directory)
    end

    def test_preferred_generator_is_found
      install("wrk", "")
      assert_equal "wrk", generator.name
      install("oha", "")
      assert_equal "oha", generator.name
    end

    def test_missing_generator_is_an_error_with_a_remedy
      error = assert_raises(Lab::LabError) { generator }

      assert_equal "carat: no load generator is installed: apt install wrk, or cargo install oha", error.message
    end

    def test_version_is_read_from_what_the_program_prints
      install("wrk", "echo 'wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012'; exit 1")

      assert_equal "4.1.0", generator.version
    end

    def test_program_is_run_and_its_report_read
      install("wrk", "echo '#{REPORT}'")
      looks = []
      traffic = generator.run("http://127.0.0.1/", seconds: 1, connections: 1) { |seconds| looks << seconds }

      assert_equal [5, false], [traffic.requests, traffic.interrupted]
      refute_empty looks
    end

    def test_program_that_fails_is_an_error_with_its_last_line
      install("wrk", "echo usage; echo unable to connect; exit 1")
      error = assert_raises(Lab::LabError) { generator.run("http://127.0.0.1/", seconds: 1, connections: 1) }

      assert_equal "carat: wrk fails: unable to connect", error.message
    end

    def test_interrupt_ends_the_program_and_keeps_its_report
      install("wrk", <<~SHELL)
        trap "echo '#{REPORT}'; exit 0" INT
        : >#{@directory}/ready
        while :; do read -t 1 nothing <>#{@directory}/fifo; done
      SHELL
      system("mkfifo", File.join(@directory, "fifo"))
      traffic = generator.run("http://127.0.0.1/", seconds: 60, connections: 1) do
        raise Interrupt if File.exist?(File.join(@directory, "ready"))
      end

      assert_equal [5, true], [traffic.requests, traffic.interrupted]
    end

    # No `touch`: bash forgets an interrupt that arrives while a program that it started ends well.
    def test_interrupt_of_a_program_that_has_nothing_to_report_is_an_interrupt
      install("wrk", ": >#{@directory}/ready; read nothing <>#{@directory}/fifo")
      system("mkfifo", File.join(@directory, "fifo"))

      assert_raises(Interrupt) do
        generator.run("http://127.0.0.1/", seconds: 60, connections: 1) do
          raise Interrupt if File.exist?(File.join(@directory, "ready"))
        end
      end
    end

    private

    def generator
      Lab::Load::Generator.find("#{@directory}:relative")
    end

    def install(name, script)
      path = File.join(@directory, name)
      File.write(path, "#!/bin/bash\n#{script}\n")
      File.chmod(0o755, path)
    end
  end
end
