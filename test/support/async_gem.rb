# frozen_string_literal: true

module Support
  # The async gem 2, where it is installed: Debian 12 and 13 package 1.30, sid packages 2.
  module AsyncGem
    # Print only errors, not the tasks that fail as a test expects.
    ENV["CONSOLE_LEVEL"] ||= "error"

    # Why it cannot be tested here, in one sentence, or nil.
    def self.obstacle
      @obstacle
    end

    begin
      gem "async", ">= 2"
      require "async"
      require "async/barrier"
      require "async/idler"
      require "async/notification"
      require "async/queue"
      require "async/semaphore"
      @obstacle = nil
    rescue LoadError => e
      @obstacle = "the async gem 2 is not installed (#{e.message.lines.first.strip})"
    end
  end
end
