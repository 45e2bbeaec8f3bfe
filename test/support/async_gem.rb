# frozen_string_literal: true

module Support
  # The async gem, where a version is installed that these tests are for: Debian 12 and 13 have 1.30, sid has 2.
  module AsyncGem
    # Only errors are printed, not that a task has failed as it was to.
    ENV["CONSOLE_LEVEL"] ||= "error"

    # One sentence that says why there are no tests of it, or nil.
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
