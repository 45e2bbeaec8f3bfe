# frozen_string_literal: true

require_relative "collector_policy"
require_relative "identity"
require_relative "preload"
require_relative "../descriptors/service_variables"
require_relative "../shared_options"

module Carat
  module Launch
    # The environment variables with which the mold starts. Each part is a class: its instances, made from the
    # Configuration and the user's environment, have `variables`, and its `restore` removes them from the mold's
    # environment. PARTS is the only place that lists all parts.
    class MoldEnvironment
      # Every part.
      PARTS = [Identity, Preload, CollectorPolicy, ServiceVariables, SharedOptions].freeze

      # Restores the user's environment in `environment`, the mold's ENV, for programs that the application starts.
      def self.restore(environment)
        PARTS.each { |part| part.restore(environment) }
      end

      # `environment` is ENV or a Hash; `parts` are classes like those in PARTS.
      def initialize(configuration, environment: ENV, parts: PARTS)
        @parts = parts.map { |part| part.new(configuration, environment) }
      end

      # Returns a Hash of Strings by name. Variables can be set, not removed.
      def to_h
        @parts.map(&:variables).reduce({}, :merge)
      end
    end
  end
end
