# frozen_string_literal: true

require_relative "collector_policy"
require_relative "identity"
require_relative "preload"
require_relative "../shared_options"

module Carat
  module Launch
    # The environment variables with which the mold starts.
    class MoldEnvironment
      # The variables with which the edge reports to a service manager. The application must not see them: the manager
      # would refuse a message of the application or, worse, take it for the edge's.
      SERVICE = %w[NOTIFY_SOCKET WATCHDOG_USEC WATCHDOG_PID LISTEN_FDS LISTEN_PID LISTEN_FDNAMES].freeze
      private_constant :SERVICE

      # Restores the user's environment in `environment`, the mold's ENV, for programs that the application starts. Only
      # the variables of Identity stay set.
      def self.restore(environment)
        [Preload, CollectorPolicy, SharedOptions].each { |part| part.restore(environment) }
        SERVICE.each { |name| environment.delete(name) }
      end

      # `environment` is ENV or a Hash.
      def initialize(configuration, environment: ENV)
        @configuration = configuration
        @environment = environment
      end

      # Returns the variables to set, a Hash of Strings by name. No variable can be removed in this way.
      def to_h
        parts = [Identity, Preload, CollectorPolicy].map { |part| part.new(@configuration, @environment).variables }
        parts.reduce(:merge).merge(SharedOptions.variables { |option| @configuration[option.name] })
      end
    end
  end
end
