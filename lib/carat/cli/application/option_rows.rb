# frozen_string_literal: true

require_relative "../../config/options"
require_relative "../columns"

module Carat
  module CLI
    # Each option with the place that sets it and its value, for `carat check --print`.
    class OptionRows
      HEAD = %w[option from value].freeze
      DEFAULT = "default"
      # Shown in place of a secret value.
      HIDDEN = "(not shown)"
      NONE = "none"
      OFF = "off"
      # The place that Configuration names for an option whose value is an argument of the command line.
      ARGUMENT = "carat"
      # The variables that the configuration sets for the application.
      EXPORTED = Config::Options.fetch(:environment).env
      private_constant :ARGUMENT, :DEFAULT, :EXPORTED, :HEAD, :HIDDEN, :NONE, :OFF

      # `before` is the environment, a Hash, before `configuration` was read; `env` is the environment after it was
      # read.
      def initialize(configuration, before:, env:)
        @configuration = configuration
        @env = env.to_h.except(*EXPORTED).merge(before.slice(*EXPORTED))
      end

      # Returns the lines of the table.
      def lines
        rows = Config::Options.map { |option| [option.name.to_s, from(option), value(option)] }
        Columns.lines([HEAD, *rows], left: [0, 1, 2])
      end

      private

      # The place whose value counts, and the places that it overrides: somebody may wonder why those have no effect.
      def from(option)
        place, *others = @configuration.places(option.name, @env).map { |text| short(option, text) }
        return missing(option) unless place

        others.empty? ? place : "#{place}, not #{others.join(", ")}"
      end

      # Shortens a place, as `carat.rb:4: log` to `carat.rb:4`: the row names the option already.
      def short(option, place)
        place == ARGUMENT ? "argument" : place.delete_suffix(": #{option.name}")
      end

      def missing(option)
        return "found" if option.name == :config && @configuration.config_path

        option.in_development && @configuration.development? ? "#{DEFAULT} in development" : DEFAULT
      end

      def value(option)
        return @configuration.config_path || NONE if option.name == :config

        value = @configuration[option.name]
        return HIDDEN if option.secret && value
        return words(option) if value.nil?

        text = option.text(value).to_s
        text.empty? ? words(option) : text
      end

      # The words for no value. An option that has a default, and yet no value, was turned off by somebody.
      def words(option)
        return OFF unless [nil, []].include?(option.default)

        option.default_words.empty? ? NONE : option.default_words
      end
    end
  end
end
