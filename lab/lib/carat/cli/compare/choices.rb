# frozen_string_literal: true

require "carat/config/config_error"
require "carat/config/options"
require_relative "../../lab/compare/setups/choice"
require_relative "../../lab/compare/setups/puma_program"
require_relative "../../lab/load/carat_program"

module Carat
  module CLI
    class Compare
      # The flags that take a value for each of the two set-ups, as in `--threads 1,5`.
      class Choices
        # Options of Carat that do; one value is that of both.
        OPTIONS = %i[allocator threads workers fibers gc].freeze

        # glibc is the system's allocator on the machines that Carat runs on.
        ALIASES = { "glibc" => "system" }.freeze
        GEM = /\A([\w.-]+)=([^,=]+),([^,=]+)\z/
        VERSION = /\A\d[\w.-]*\z/
        # Options that Puma has too.
        PUMA_OPTIONS = %i[threads workers].freeze
        private_constant :ALIASES, :GEM, :VERSION, :PUMA_OPTIONS

        # `env` is ENV or a Hash.
        def initialize(env)
          @env = env
          @words = [[], []]
          @descriptions = [[], []]
          @chosen = false
          @servers = [Lab::Load::CaratProgram::NAME] * 2
          @rubies = [nil, nil]
          @gems = [nil, nil]
          @commits = [nil, nil]
        end

        # Defines the flags on an OptionParser.
        def define(parser)
          OPTIONS.each do |name|
            flag = "#{Config::Options.fetch(name).flag} A,B"
            parser.on(flag, "The option `#{name}` of both") { |text| set(name, text) }
          end
          parser.on("--ruby A,B", "Paths of Ruby, or names in PATH") { |text| self.rubies = two("--ruby", text) }
          parser.on("--with puma", "Puma in place of Carat as B") { |text| self.server = text }
          parser.on("--gem-version NAME=A,B", "Versions of a gem") { |text| self.gems = text }
          parser.on("--commit A,B", "Commits of the application") { |text| self.commits = two("--commit", text) }
        end

        # Sets the config file of A and that of B.
        def config_files(paths)
          option = Config::Options.fetch(:config)
          @chosen = true
          paths.each_with_index { |path, side| choose(option, path, side, path, path) }
        end

        # Returns the two Choices; `common` are words for both. Raises ConfigError when no flag had two values.
        def to_a(common)
          unless @chosen
            raise Config::ConfigError, "name what differs: two config files, or a flag such as --threads 1,5 " \
                                       "(carat compare --help lists them)"
          end

          refuse_for_puma
          %w[A B].each_with_index.map do |name, side|
            Lab::Compare::Choice.new(name:, description: @descriptions[side].join(", "), words: common + @words[side],
                                     server: @servers[side], ruby: @rubies[side], gem: @gems[side],
                                     commit: @commits[side])
          end
        end

        private

        def set(name, text)
          option = Config::Options.fetch(name)
          values = text.split(",", -1)
          raise Config::ConfigError, "#{option.flag}: #{text.inspect} has more than two values" if values.size > 2

          @chosen ||= values.size == 2
          values = [values.first.to_s] * 2 unless values.size == 2
          values.each_with_index do |value, side|
            choose(option, ALIASES.fetch(value, value), side, "#{option.flag} #{value}", option.flag)
          end
        end

        def choose(option, value, side, description, place)
          Config::InvalidValue.at(place) { option.parse(value) }
          @words[side] << "#{option.name}=#{value}"
          @descriptions[side] << description
        end

        def two(flag, text)
          values = text.split(",", -1)
          return values if values.size == 2 && values.none?(&:empty?)

          raise Config::ConfigError, "#{flag}: #{text.inspect} is not two values such as A,B"
        end

        def rubies=(names)
          @rubies = names.map { |name| find(name) }
          describe(names) { |name| "--ruby #{name}" }
        end

        def find(name)
          path = name.include?("/") ? File.expand_path(name) : in_path(name)
          return path if path && File.file?(path) && File.executable?(path)

          raise Config::ConfigError, "--ruby: #{name}: no such program"
        end

        def in_path(name)
          places = @env.fetch("PATH", "").split(":")
          places.map { |place| File.join(place, name) }.find { |path| File.executable?(path) }
        end

        def server=(name)
          known = Lab::Compare::PumaProgram::NAME
          unless name == known
            raise Config::ConfigError, "--with: #{name.inspect} is not #{known}, the only other server"
          end

          @servers = [Lab::Load::CaratProgram::NAME, name]
          describe(@servers) { |server| server }
        end

        def gems=(text)
          name, *versions = GEM.match(text)&.captures
          unless name && versions.all? { |version| VERSION.match?(version) }
            raise Config::ConfigError, "--gem-version: #{text.inspect} is not a gem with two versions, such as " \
                                       "rack=2.2.4,3.0.0"
          end

          @gems = versions.map { |version| [name, version] }
          describe(versions) { |version| "#{name} #{version}" }
        end

        def commits=(commits)
          @commits = commits
          describe(commits) { |commit| "commit #{commit}" }
        end

        def describe(values)
          @chosen = true
          values.each_with_index { |value, side| @descriptions[side] << yield(value) }
        end

        # Puma would ignore the other options, and the report would claim that they made a difference.
        def refuse_for_puma
          side = @servers.index(Lab::Compare::PumaProgram::NAME) or return

          name = @words[side].map { |word| word[/\A\w+/].to_sym }.find { |word| !PUMA_OPTIONS.include?(word) } or return
          raise Config::ConfigError, "--with puma: Puma has no option `#{name}`"
        end
      end
    end
  end
end
