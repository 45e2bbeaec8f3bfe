# frozen_string_literal: true

require_relative "../../log/relative_path"
require_relative "../../parts"
require_relative "../config_error"
require_relative "../gone_options"
require_relative "hooks"
require_relative "../options"
require_relative "processes"
require_relative "spelling"

module Carat
  module Config
    # The `self` of the config file: one method for each option and each hook.
    class DSL
      # `settings`, `hooks` and `processes` receive what the file declares; error messages name the file relative to
      # `root`.
      def initialize(settings, hooks, processes, root)
        @settings = settings
        @hooks = hooks
        @processes = processes
        @root = root
      end

      Options.from(:file).each do |option|
        define_method(option.name) do |*values|
          place = "#{caller_place}: #{option.name}"
          values = [values.flatten] if option.list?
          if values.size != 1
            hint = Parts.hint { |part| part.value_hint(option, values) }
            raise ConfigError, "#{place}: takes one value (#{values.size} given)#{hint}"
          end

          @settings.set(option, values.first, place)
        end
      end

      Hooks::TABLE.each_key do |name|
        define_method(name) do |&block|
          raise ConfigError, "#{caller_place}: #{name}: takes a block" unless block

          @hooks.add(name, &block)
        end
      end

      # Declares a further process of the application, which the mold forks; see docs/processes.md.
      def process(name, **settings, &)
        @processes.add(name, settings, caller_place, &)
      end

      private

      def method_missing(name, *)
        known = [*Options.from(:file).map(&:name), *Hooks::TABLE.keys, :process]
        path = caller_place[/\A[^:]+/]
        hints = [GoneOptions.hint(name), Parts.hint { |part| part.word_hint(name, path) }, Spelling.hint(name, known)]
        hint = hints.find { |it| !it.empty? }
        raise ConfigError, "#{caller_place}: #{name}: no such option#{hint}"
      end

      def respond_to_missing?(_name, _include_private = false)
        false
      end

      def caller_place
        location = caller_locations.find { |frame| frame.path != __FILE__ }
        "#{Log::RelativePath.of(location.path, @root)}:#{location.lineno}"
      end
    end
  end
end
