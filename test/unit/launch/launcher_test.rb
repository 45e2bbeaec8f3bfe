# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "open3"
require "socket"
require "carat/config/configuration"
require "carat/launch/launcher"
require_relative "../../support/workplace"

module Carat
  class LauncherTest < Minitest::Test
    include Support::Workplace

    LIBRARY = File.expand_path("../../../lib", __dir__)

    # Replaces the edge, and prints what it was started with.
    EDGE = <<~'SH'
      #!/bin/sh
      echo "pid $$"
      echo "settings $CARAT_EDGE_SETTINGS"
      echo "listen $LISTEN_FDS $LISTEN_PID $LISTEN_FDNAMES"
      for fd in /proc/$$/fd/*; do echo "fd ${fd##*/} $(readlink $fd)"; done
    SH

    LAUNCH = <<~'RUBY'
      require "carat"
      require "carat/config/configuration"
      require "carat/launch/launcher"
      module Carat
        Launch::Launcher.new(Config::Configuration.from_words(ARGV), ARGV, edge: File.expand_path("edge"))
                        .launch(log: Log::ProcessLog.new)
      end
    RUBY

    def test_edge_settings_are_options_mold_version_and_directory
      settings = launcher("workers=2", "threads=5").edge_settings

      beside = %i[chosen_connections identity launch parts pid_file processes version directory]

      assert_equal (Config::Options.for_edge.reject(&:part).map(&:name) + beside).sort, settings.keys.sort
      assert_equal [2..2, 5, VERSION, @workplace], settings.values_at(:workers, :threads, :version, :directory)
    end

    def test_mold_is_started_with_the_same_words
      command = launcher("workers=2", "rackup=config.ru").edge_settings.dig(:launch, :mold_command)

      assert_equal [Launch::RubyProgram.path, "-E", "UTF-8", "-I", LIBRARY], command.first(5)
      assert_equal ["-r", "carat/processes/mold", "-e", Launch::Launcher::BOOT, "--", "workers=2", "rackup=config.ru"],
                   command.last(7)
    end

    def test_missing_edge_is_one_line
      error = assert_raises(Launch::LaunchError) { launcher(edge: nil).launch(log: Log::ProcessLog.new) }

      assert_match(%r{\Acarat: not built for Ruby \S+: .*(script/setup|gem pristine)}, error.message)
    end

    def test_edge_that_cannot_be_executed_is_one_line
      error = assert_raises(Launch::LaunchError) { launcher(edge: path("config.ru")).launch(log: Log::ProcessLog.new) }

      assert_equal "carat: #{path("config.ru")} cannot be executed: Permission denied", error.message[/.*denied/]
    end

    def test_edge_keeps_the_process_id
      report, pid = launch("workers=2")

      assert_equal pid.to_s, report["pid"]
      assert_equal "2..2", JSON.parse(report["settings"])["workers"]
      assert_equal "", report["listen"]
    end

    def test_sockets_are_renumbered_and_the_ready_descriptor_is_single
      TCPServer.open("127.0.0.1", 0) do |server|
        IO.pipe do |_reader, writer|
          report, pid = launch("ready_fd=3", "bind=fd://9", "bind=tcp://127.0.0.1:0", 9 => server, 3 => writer)
          settings = JSON.parse(report["settings"])

          assert_equal [["fd://3", "tcp://127.0.0.1:0"], 4], settings.values_at("bind", "ready_fd")
          assert_equal "1 #{pid}", report["listen"]
          assert_equal [link(server)], report.values_at("fd 3")
          assert_equal(["fd 4"], report.select { |_name, target| target == link(writer) }.keys)
          refute_includes report, "fd 9"
        end
      end
    end

    private

    def launcher(*words, edge: "carat-edge")
      Launch::Launcher.new(Config::Configuration.from_words(words, env: {}), words, edge:)
    end

    # Returns the output of the edge by its first word (two for descriptors), and its process id.
    def launch(*words, **descriptors)
      write("edge", EDGE)
      File.chmod(0o755, "edge")
      env = { "PORT" => nil, "LISTEN_FDS" => nil, "LISTEN_PID" => nil }
      out, status = Open3.capture2(env, RbConfig.ruby, "-I", LIBRARY, "-e", LAUNCH, "--", *words, **descriptors)
      [out.scan(/^(fd \d+|\w+) (.*?) *$/).to_h, status.pid]
    end

    def link(io)
      File.readlink("/proc/self/fd/#{io.fileno}")
    end
  end
end
