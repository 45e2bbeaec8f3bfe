# frozen_string_literal: true

require "rbconfig"
require_relative "../../native_path"

module Carat
  module Launch
    # Ruby for the processes that a server starts.
    module RubyProgram
      # The directory for `ruby -I`.
      LIBRARY = File.expand_path("../../..", __dir__)

      module_function

      # Returns the words that start Ruby with Carat's libraries and the encoding of this process (see Config::Locale).
      def command
        paths = [LIBRARY, NativePath.directory].compact.uniq.flat_map { |path| ["-I", path] }
        [path, "-E", Encoding.default_external.name, *paths]
      end

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
