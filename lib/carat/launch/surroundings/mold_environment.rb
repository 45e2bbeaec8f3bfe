# frozen_string_literal: true

require_relative "collector_policy"
require_relative "identity"
require_relative "preload"
require_relative "../shared_options"

module Carat
  module Launch
    # The environment variables with which the mold starts.
    class MoldEnvironment
      # The variables by which a service manager talks to the edge: an application that answered in the edge's place
      # would be refused or, worse, believed.
      SERVICE = %w[NOTIFY_SOCKET WATCHDOG_USEC WATCHDOG_PID LISTEN_FDS LISTEN_PID LISTEN_FDNAMES].freeze
      private_constant :SERVICE

      # Restores the user's environment in `environment`, the mold's ENV, for programs that the application starts. They
      # keep the variables of Identity.
      def self.restore(environment)
        [Preload, CollectorPolicy, SharedOptions].each { |part| part.restore(environment) }
        SERVICE.each { |name| environment.delete(name) }
      end

      # `environment` is ENV or a Hash.
      def initialize(configuration, environment: ENV)
        @configuration = configuration
        @environment = environment
      end

      # Returns a Hash of Strings by name. Variables can be set, not removed.
      def to_h
        parts = [Identity, Preload, CollectorPolicy].map { |part| part.new(@configuration, @environment).variables }
        parts.reduce(:merge).merge(SharedOptions.variables { |option| @configuration[option.name] })
      end
    end
  end
end
