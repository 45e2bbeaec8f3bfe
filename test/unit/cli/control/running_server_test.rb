# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/control/running_server"
require_relative "../../../support/workplace"

module Carat
  class RunningServerTest < Minitest::Test
    include Support::Workplace

    def test_a_flag_or_the_variable_names_the_server_rather_than_the_config_file
      write("carat.rb", "control_socket \"file.sock\"\n")

      assert_equal path("file.sock"), socket
      assert_equal path("variable.sock"), socket(env: { "CARAT_CONTROL_SOCKET" => "variable.sock" })
      assert_equal path("flag.sock"),
                   socket("--control-socket", "flag.sock", env: { "CARAT_CONTROL_SOCKET" => "variable.sock" })
    end

    private

    def socket(*argv, env: {})
      server = CLI::RunningServer.new("stop", env)
      server.flags.parse(argv)
      server.path
    end
  end
end
