# frozen_string_literal: true

require_relative "collector_policy"
require_relative "preload"

module Carat
  module Launch
    # The variables that the mold is started with beside the launcher's own. A part is a class whose instances are made
    # from the Configuration and the user's environment and answer `variables`, and whose `restore` makes the mold's
    # environment the user's again; PARTS is the only place that knows them all.
    class MoldEnvironment
      PARTS = [Preload, CollectorPolicy].freeze

      # Gives `environment`, the mold's ENV, back what the user's was, so that programs of the application inherit that.
      def self.restore(environment)
        PARTS.each { |part| part.restore(environment) }
      end

      # `environment` is ENV or a Hash; `parts` are classes like those in PARTS.
      def initialize(configuration, environment: ENV, parts: PARTS)
        @parts = parts.map { |part| part.new(configuration, environment) }
      end

      # Returns a Hash of Strings by name; a variable can be set, not removed.
      def to_h
        @parts.map(&:variables).reduce({}, :merge)
      end
    end
  end
end
