# frozen_string_literal: true

module Carat
  module Launch
    # The variables by which a service manager talks to the edge. As a part of MoldEnvironment they end there: an
    # application that answered in the edge's place would be refused, or worse, be believed.
    class ServiceVariables
      NAMES = %w[NOTIFY_SOCKET WATCHDOG_USEC WATCHDOG_PID LISTEN_FDS LISTEN_PID LISTEN_FDNAMES].freeze
      private_constant :NAMES

      # Removes the variables from `environment`, the mold's ENV.
      def self.restore(environment)
        NAMES.each { |name| environment.delete(name) }
      end

      # A part like the others; it needs neither.
      def initialize(_configuration, _environment); end

      # Returns a Hash of Strings by name: nothing.
      def variables
        {}
      end
    end
  end
end
