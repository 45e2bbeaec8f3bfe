# frozen_string_literal: true

require "open3"
require "rbconfig"
require "test_helper"

module Carat
  class SignalsTest < Minitest::Test
    LIB = File.expand_path("../../../lib", __dir__)

    # Ruby 4.0.1 crashes here by itself.
    def test_a_signal_raises_in_a_method_with_keywords_too
      %w[HUP TERM QUIT INT].each do |name|
        out, = Open3.capture2e(RbConfig.ruby, "-I", LIB, "-r", "carat/processes/signals", "-e", <<~RUBY)
          Carat::Processes::Signals.restore
          input, @open = IO.pipe
          begin
            system("kill -#{name} \#{Process.pid}; exec cat", in: input)
          rescue SignalException => error
            print error.signm
          end
        RUBY

        assert_equal({ "INT" => "" }.fetch(name, "SIG#{name}"), out)
      end
    end
  end
end
