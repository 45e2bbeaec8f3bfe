# frozen_string_literal: true

require_relative "../../config/locale"

module Carat
  module Launch
    # The directory of the application, by the path that the user took. Symbolic links stay in the path, because at a
    # restart a link such as `current` may lead to a new release.
    class WorkingDirectory
      # The path of the Gemfile that bundler has resolved.
      GEMFILE = "BUNDLE_GEMFILE"
      private_constant :GEMFILE

      # `env` is ENV or a Hash.
      def initialize(env = ENV)
        @env = env
        @physical = Dir.pwd
      end

      # Returns the path in PWD if it leads to this directory; otherwise the path without symbolic links.
      def path
        path = Config::Locale.text(@env["PWD"].to_s)
        path.start_with?("/") && File.identical?(path, @physical) ? path : @physical
      rescue SystemCallError
        @physical
      end

      # Returns the environment variables that name a file in this directory, with #path as the beginning of its path.
      def variables
        gemfile = Config::Locale.text(@env[GEMFILE].to_s)
        inside = path != @physical && gemfile.start_with?("#{@physical}/")
        inside ? { GEMFILE => File.join(path, gemfile.delete_prefix("#{@physical}/")) } : {}
      end
    end
  end
end
