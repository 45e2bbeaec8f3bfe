# frozen_string_literal: true

require "rbconfig"
require_relative "../../native_path"

module Carat
  module Launch
    # The command that starts Ruby for the processes of a server.
    module RubyProgram
      # The directory of Carat's Ruby code, for `ruby -I`.
      LIBRARY = File.expand_path("../../..", __dir__)

      module_function

      # Returns the words that start Ruby with Carat's libraries and the encoding of this process (see Config::Locale).
      def command
        paths = [LIBRARY, NativePath.directory].compact.uniq.flat_map { |path| ["-I", path] }
        [path, "-E", Encoding.default_external.name, *paths]
      end

      # Returns the path of the Ruby that runs. If the `ruby` that PATH finds is the same program, the path keeps its
      # symbolic links, because at a restart they may lead to a new version of Ruby.
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
