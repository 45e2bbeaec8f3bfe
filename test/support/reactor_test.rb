# frozen_string_literal: true

require "socket"
require_relative "scheduler_test"

module Support
  # A test of a Carat::Reactor, with two sockets that are connected.
  class ReactorTest < SchedulerTest
    def setup
      @reactor = Carat::Reactor.new
      @near, @far = UNIXSocket.pair
      @seen = []
    end

    def teardown
      [@near, @far].each { |io| io.close unless io.closed? }
    end

    private

    def run_reactor
      in_thread { around { @reactor.run } }
    end
  end
end
