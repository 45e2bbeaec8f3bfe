# frozen_string_literal: true

require "json"
require_relative "../../carat"
require_relative "../config/config_error"
require_relative "../config/configuration"
require_relative "../config/options"
require_relative "../log/plain_json"
require_relative "../version"
require_relative "launcher"
require_relative "shared_options"

module Carat
  module Launch
    # The settings for a server that runs, from the configuration as it is now. An option that only a new start can
    # change keeps its running value.
    class FreshSettings
      # The settings in the section `launch` that a restart replaces.
      LAUNCH = %w[mold_command mold_environment reader_command upgrade_command].freeze
      private_constant :LAUNCH

      # Writes the answer to the edge, which has started this process for it. `words` come from Flags#words.
      def self.write(words)
        output = IO.for_fd(Integer(ENV.delete("CARAT_SETTINGS_FD"), 10), "w")
        running = JSON.parse(ENV.delete("CARAT_EDGE_SETTINGS"))
        output.write(Log::PlainJSON.generate(new(words, running).answer))
      end

      # `words` come from Flags#words; `running` are the settings of the server, a Hash by name.
      def initialize(words, running)
        @words = words
        @running = running
      end

      # Returns a Hash for the edge: the new settings, and the names of options that have changed without effect; or an
      # error.
      def answer
        return { error: version_problem } if @running["version"] != VERSION

        { settings: { settings: merged, unchanged: } }
      rescue Config::ConfigError => e
        { error: e.message }
      end

      private

      def merged
        settings = @running.merge(fresh.slice(*changeable), "parts" => sections)
        shared = SharedOptions.variables { |option| settings.dig(*option.path) }
        settings.merge("launch" => launch(shared))
      end

      # The section `launch`: the commands that the edge runs are new, and what describes the server's surroundings is
      # kept.
      def launch(shared)
        launch = @running["launch"].merge(fresh["launch"].slice(*LAUNCH))
        launch.merge("mold_environment" => [user_variables, launch["mold_environment"], shared].reduce(:merge))
      end

      # The new sections of the parts, with the running values of options that only a start can change.
      def sections
        fixed = Config::Options.for_edge.reject(&:restart?).group_by { |option| option.part.to_s }
        fresh["parts"].to_h do |name, section|
          kept = fixed.fetch(name, []).map { |option| option.path.last }
          [name, section.merge(@running["parts"][name].slice(*kept))]
        end
      end

      # The settings of a new server, as the user of the running one.
      def fresh
        @fresh ||= begin
          kept = @running["launch"].fetch("start_options").transform_keys(&:to_sym)
          JSON.parse(Log::PlainJSON.generate(Launcher.new(configuration.with(kept), @words).edge_settings))
        end
      end

      def configuration
        @configuration ||= Config::Configuration.from_words(@words)
      end

      # The variables that Identity set at the start. They are kept because a server that has become another user can no
      # longer tell that root started it.
      def user_variables
        @running["identity"] ? @running["launch"]["mold_environment"].slice("HOME", "USER", "LOGNAME") : {}
      end

      def changeable
        options = Config::Options.for_edge.select { |option| option.restart? && option.part.nil? }
        options.map { |option| option.name.to_s } + %w[directory processes]
      end

      def unchanged
        fixed = Config::Options.reject(&:restart?)
        fixed.reject { |option|
 same?(option) || (option.name == :bind && inherited?) }.map { |option| option.name.to_s }
      end

      def same?(option)
        return fresh.dig(*option.path) == @running.dig(*option.path) if option.edge

        configuration[option.name] == @running["launch"]["start_options"][option.name.to_s]
      end

      # Whether all listeners are sockets of a service manager. Those do not count as a change of `bind`, because the
      # addresses name them only from the start on.
      def inherited?
        @running["bind"].all? { |address| address.start_with?("fd://") }
      end

      def version_problem
        "Carat #{@running["version"]} is running, and #{VERSION} is installed: use carat upgrade"
      end
    end
  end
end
