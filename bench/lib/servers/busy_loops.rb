# frozen_string_literal: true

module Bench
  # Processes that use all the CPU time that they can get, as other work on the machine would.
  module BusyLoops
    # A shell, because another Ruby would share pages with the servers.
    COMMAND = ["sh", "-c", "while :; do :; done"].freeze

    # Runs that many loops beside the block and returns the block's value.
    def self.beside(number)
      pids = Array.new(number) { Process.spawn(*COMMAND) }
      yield
    ensure
      pids&.each { |pid| Process.kill(:KILL, pid) }
      pids&.each { |pid| Process.wait(pid) }
    end
  end
end
