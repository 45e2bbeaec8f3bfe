# frozen_string_literal: true

require "rbconfig"

module Carat
  module Launch
    # The path of Ruby for the processes that a server starts.
    module RubyProgram
      module_function

      # Returns the `ruby` that PATH finds, with its symbolic links, if that is the one that runs: at a restart they
      # may lead to a new version. Otherwise returns the one that runs.
      def path(env = ENV)
        running = File.realpath(RbConfig.ruby)
        found = env["PATH"].to_s.split(":").map { |directory| File.join(directory, "ruby") }
                           .find { |path| path.start_with?("/") && File.executable?(path) }
        found && File.realpath(found) == running ? found : RbConfig.ruby
      rescue SystemCallError
        RbConfig.ruby
      end
    end
  end
end
