# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/control/control_sockets"
require_relative "../../../support/workplace"

module Carat
  class ControlSocketsTest < Minitest::Test
    include Support::Workplace

    def teardown
      @servers&.each(&:close)
      super
    end

    def test_only_server_is_found
      listen(42)

      assert_equal path("carat-42.sock"), sockets.only
      assert_equal path("carat-42.sock"), sockets.of(42)
    end

    def test_dead_servers_and_other_files_do_not_count
      listen(42)
      listen(43).close
      write("carat-44.sock", "")
      UNIXServer.new("carat-4x.sock").close

      assert_equal({ 42 => path("carat-42.sock") }, sockets.running)
    end

    def test_several_servers_require_a_choice
      [43, 42].each { |pid| listen(pid) }

      serve(listen(44), '{"listeners":["tcp://127.0.0.1:9292"]}')
      choice = /several servers are running; choose one with --pid\n  42.*\n  43.*\n  44  tcp:..127.0.0.1:9292/
      assert_refused(choice) { sockets.only }
      assert_equal path("carat-43.sock"), sockets.of(43)
      assert_refused(/no server of yours has the process id 7; .*--control-socket\n  42/) { sockets.of(7) }
    end

    def test_without_a_server_there_is_none
      assert_refused("carat: no server of yours is running; start one, or name the socket with --control-socket") do
        sockets.only
      end
    end

    def test_sockets_of_other_users_count_for_root_alone
      listen(42)
      stranger = File.stat("carat-42.sock").uid + 1

      assert_empty CLI::ControlSockets.new([@workplace], uid: stranger).running
      refute_empty CLI::ControlSockets.new([@workplace], uid: 0).running
    end

    def test_servers_of_several_directories_count
      listen(42)
      Dir.mkdir("other")
      UNIXServer.new("other/carat-7.sock").close
      listen("43", "other")

      assert_equal [42, 43], CLI::ControlSockets.new([@workplace, path("other"), "/nowhere"]).running.keys
    end

    private

    def sockets
      CLI::ControlSockets.new([@workplace])
    end

    # Responds to two clients: the first only looks whether somebody listens.
    def serve(server, json)
      Thread.new do
        server.accept.close
        server.accept.tap { |client| client.readpartial(1000) }.then do |client|
          client.write("HTTP/1.1 200 OK\r\n\r\n#{json}")
          client.close
        end
      end
    end

    def listen(pid, directory = ".")
      UNIXServer.new("#{directory}/carat-#{pid}.sock").tap { |server| (@servers ||= []) << server }
    end

    def assert_refused(message, &block)
      assert_operator message, :===, assert_raises(CLI::ControlError, &block).message
    end
  end
end
