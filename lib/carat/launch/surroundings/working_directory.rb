# frozen_string_literal: true

require_relative "../../config/locale"

module Carat
  module Launch
    # The directory of the application by the path that the user took, symbolic links included: at a restart, a link
    # such as `current` may lead to a new release.
    class WorkingDirectory
      # The path of the Gemfile that bundler has resolved.
      GEMFILE = "BUNDLE_GEMFILE"
      private_constant :GEMFILE

      # `env` is ENV or a Hash.
      def initialize(env = ENV)
        @env = env
        @physical = Dir.pwd
      end

      # Returns the path in PWD, if that is this directory, or else the one without symbolic links.
      def path
        path = Config::Locale.text(@env["PWD"].to_s)
        path.start_with?("/") && File.identical?(path, @physical) ? path : @physical
      rescue SystemCallError
        @physical
      end

      # Returns the environment variables that name files in this directory, by the same path.
      def variables
        gemfile = Config::Locale.text(@env[GEMFILE].to_s)
        inside = path != @physical && gemfile.start_with?("#{@physical}/")
        inside ? { GEMFILE => File.join(path, gemfile.delete_prefix("#{@physical}/")) } : {}
      end
    end
  end
end
