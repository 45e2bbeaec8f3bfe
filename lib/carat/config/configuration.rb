# frozen_string_literal: true

require_relative "../parts"
require_relative "combinations"
require_relative "config_error"
require_relative "sources/config_file"
require_relative "sources/hooks"
require_relative "options"
require_relative "sources/processes"
require_relative "settings"
require_relative "sources/variables"

module Carat
  module Config
    # The value of every option, from the strongest source: flag, config file, environment variable, default.
    class Configuration
      DEVELOPMENT = "development"
      private_constant :DEVELOPMENT

      # The blocks of the config file, as Hooks.
      attr_reader :hooks

      # Absolute path of the config file that was read, or nil.
      attr_reader :config_path

      # Builds a configuration from the words of a command line, as Flags#words returned them, the config file and
      # `env`; see #initialize. Raises ConfigError.
      def self.from_words(words, env: ENV)
        new(Settings.from_words(words), env)
      end

      # `flags` are Settings. `env` is ENV or a Hash. Before the config file runs, RACK_ENV is set in `env`, and so is
      # RAILS_ENV if a flag, the config file, or a variable of Carat chose the environment. `only` names the options to
      # resolve. Raises ConfigError.
      def initialize(flags, env, only: Options.map(&:name))
        @flags = flags
        @file = Settings.new
        @env = env
        @hooks = Hooks.new
        @processes = Processes.new
        @config_path = resolve(Options.fetch(:config)) || ConfigFile.find
        run_config_file
        @file.freeze
        @values = only.to_h { |name| [name, resolve(Options.fetch(name))] }.freeze
        Combinations.new(self, @processes).check if only.size == Options.count
      end

      # Returns the value of the option called `name`, a Symbol; raises KeyError.
      def [](name)
        @values.fetch(name)
      end

      # The option that says how many requests a worker runs at once.
      def concurrency
        Parts.filter_map { |part| part.concurrency(self) }.first || :threads
      end

      # How many requests a worker runs at once.
      def capacity
        self[concurrency]
      end

      # The number of lanes of a worker.
      def lanes
        concurrency == :threads ? capacity : 1
      end

      # Whether a flag, the config file, or a variable names the option called `name`.
      def chosen?(name)
        places(name).any?
      end

      # Returns the places that name the option called `name`, the strongest first: a flag, a line of the config file,
      # variables of `env`. The value at the first place counts, and the others have no effect.
      def places(name, env = @env)
        files = [@flags, @file].select { |source| source.key?(name) }.map { |source| source.place(name) }
        files + Options.fetch(name).variables.select { |variable| Variables.new(env).given?(variable) }
      end

      # Returns the place where the option called `name` is set, such as `carat.rb:4: log`, or its name when nothing
      # sets it.
      def place(name)
        source(Options.fetch(name)).place(name)
      end

      # Raises ConfigError unless the option called `name` is a path in a directory that exists. The file itself may
      # come and go. The directory of the default may be missing, also where a translated config file names the default.
      def check_directory(name)
        return if [nil, Options.fetch(name).default].include?(self[name])

        directory = File.dirname(File.expand_path(self[name]))
        refuse(name, "there is no directory #{directory}") unless File.directory?(directory)
      end

      # Raises ConfigError, with the place where the option called `name` is set.
      def refuse(name, problem)
        raise ConfigError, "#{place(name)}: #{problem}"
      end

      # Whether the config file names the option called `name`.
      def in_file?(name)
        @file.key?(name)
      end

      # Whether the environment is `development`.
      def development?
        resolve(Options.fetch(:environment)) == DEVELOPMENT
      end

      # Whether clients use HTTPS: an address of `bind` is encrypted, or requests in the clear are redirected.
      def https?
        Parts.any? { |part| part.https?(self) }
      end

      # Whether Carat's values alone say how the heap grows, because the user has set no variable for it.
      def frugal?
        self[:gc] == "frugal" && collector_variables.none? { |name| name.start_with?("RUBY_GC_HEAP_") }
      end

      # The names of the variables for Ruby's collector that the user has set.
      def collector_variables
        @env.keys.grep(/\ARUBY_GC_/)
      end

      # The further processes of the application that are declared for its environment, as Processes.
      def processes
        @processes.in(resolve(Options.fetch(:environment)))
      end

      # Returns a copy with other values; `values` is a Hash by name.
      def with(values)
        dup.tap { |copy| copy.override(values) }
      end

      # Returns the settings that the edge reads, a Hash: the options of the core by name, and in :parts a section for
      # each Part that has options for the edge.
      def for_edge
        sections = Parts.to_h { |part| [part.class.key, { **for_edge_of(part.class.key), **part.edge_settings(self) }] }
        { **for_edge_of(nil), parts: sections.reject { |_, section| section.empty? } }
      end

      protected

      def override(values)
        @values = @values.merge(values).freeze
      end

      private

      def for_edge_of(part)
        Options.for_edge.select { |option| option.part == part }.to_h { |option| [option.key, self[option.name]] }
      end

      def run_config_file
        export_environment
        return unless config_path

        ConfigFile.new(config_path).run(@file, hooks, @processes)
        export_environment
      end

      def resolve(option)
        source(option).fetch(option.name)
      end

      def source(option)
        [@flags, @file].find { |source| source.key?(option.name) } || fallback(option)
      end

      def fallback(option)
        settings = Settings.new
        Variables.new(@env).read(option, settings)
        settings.set(option, default(option), option.name) unless settings.key?(option.name)
        settings
      end

      def default(option)
        return option.default unless option.in_development && development?

        option.in_development
      end

      # Sets RACK_ENV, and RAILS_ENV too if the environment was chosen for Carat: Rails reads RAILS_ENV first.
      def export_environment
        option = Options.fetch(:environment)
        @env["RACK_ENV"] = resolve(option)
        chosen = [@flags, @file].any? { |source| source.key?(option.name) } ||
                 Variables.new(@env).given?(option.variables.first)
        @env["RAILS_ENV"] = resolve(option) if chosen
      end
    end
  end
end
