# frozen_string_literal: true

require_relative "../../parts"
require_relative "../config_error"
require_relative "../type"
require_relative "spelling"

module Carat
  module Config
    # The further processes of the application that the config file declares.
    class Processes
      # One declaration. `count` is a Range; `load` responds to `call`, and the number of processes follows its result
      # within that range. `stop_timeout` is nil when the server's stop timeout counts. The process runs `command` or
      # `block`; the other is nil. `place` is where the process is declared.
      # rubocop:disable Lint/StructNewOverride -- nobody counts its members
      Declaration = Struct.new(:name, :count, :load, :memory, :stop_signal, :stop_timeout, :restart, :overlap,
                               :environment, :command, :only, :place, :block, keyword_init: true) do
        # Returns what the edge reads, a Hash by name.
        def for_edge
          { **to_h.slice(:name, :memory, :stop_signal, :stop_timeout, :restart, :overlap),
            count: count.begin, most: count.end, is_command: !command.nil? }
        end
      end
      # rubocop:enable Lint/StructNewOverride

      DEFAULTS = { count: 1, load: nil, memory: nil, stop_signal: "TERM", stop_timeout: nil, restart: "always",
                   overlap: false, environment: {}, command: nil, only: nil }.freeze
      # The most declarations.
      LIMIT = 64
      # How many processes one declaration may have.
      COUNT = Type.build(:count, 0..1000)
      MEMORY = Type.build(:bytes, (1024 * 1024)..)
      NAME = /\A[a-z][a-z0-9_-]{0,31}\z/i
      RESTART = %w[always on_failure never].freeze
      private_constant :DEFAULTS, :LIMIT, :MEMORY, :NAME, :RESTART

      include Enumerable

      # Raises InvalidValue unless a process can be called `name`.
      def self.check_name(name)
        raise InvalidValue, "#{name.inspect} is not a name of letters, digits, - and _" unless NAME.match?(name)

        taken = Parts.filter_map { |part| part.process_names[name] }.first
        raise InvalidValue, "the name #{name} is taken by #{taken}" if taken
      end

      def initialize
        @declarations = []
      end

      # Declares a process; `place` begins the message of the ConfigError that a wrong value raises.
      def add(name, settings, place, &block)
        label = "#{place}: process #{name.to_s.inspect}"
        self.class.check_name(name.to_s)
        check_room(name.to_s, label)
        settings = DEFAULTS.merge(known(settings, label))
        if block.nil? == settings[:command].nil?
          raise InvalidValue, "needs a block or a `command`, and not both"
        end

        values = settings.to_h { |key, value| [key, parse(key, value)] }
        check_load(values)
        @declarations << Declaration.new(name: name.to_s, place: label, block:, **values)
      rescue InvalidValue => e
        raise ConfigError, "#{label}: #{e.message}"
      end

      # Yields each Declaration.
      def each(&) = @declarations.each(&)

      # Returns a copy with the declarations for this value of the option `environment`.
      def in(environment)
        dup.tap { |copy| copy.keep { |it| it.only.nil? || it.only.include?(environment) } }
      end

      # Returns the Declaration called `name`, or nil.
      def [](name)
        find { |declaration| declaration.name == name }
      end

      protected

      def keep(&)
        @declarations = @declarations.select(&)
      end

      private

      def check_room(name, label)
        raise ConfigError, "#{label}: is declared twice" if self[name]
        raise ConfigError, "#{label}: there are #{LIMIT} already" if @declarations.size >= LIMIT
      end

      def check_load(values)
        is_range = values[:count].begin < values[:count].end
        return if is_range == !values[:load].nil?

        raise InvalidValue, is_range ? "count: a range needs a load to follow" : "load: needs a range of count"
      end

      def known(settings, label)
        wrong = settings.keys.find { |key| !DEFAULTS.key?(key) } or return settings
        raise ConfigError, "#{label}: #{wrong}: no such setting#{Spelling.hint(wrong, DEFAULTS.keys)}"
      end

      def parse(key, value)
        case key
        when :count then COUNT.parse(value)
        when :load then lambda_or_nil(value)
        when :memory then value && MEMORY.parse(value)
        when :stop_signal then signal(value)
        when :stop_timeout then value && Type.build(:seconds).parse(value)
        when :restart then Type.build(:choice, RESTART).parse(value.to_s)
        when :overlap then Type.build(:boolean).parse(value)
        when :environment then environment(value)
        when :only then value && Array(value).map(&:to_s)
        when :command then value && command(value)
        end
      rescue InvalidValue => e
        raise InvalidValue, "#{key}: #{e.message}"
      end

      def signal(value)
        number = Signal.list[value.to_s.delete_prefix("SIG")]
        return number if number&.positive?

        raise InvalidValue, "#{value.inspect} is not a signal, such as :TERM"
      end

      def lambda_or_nil(value)
        return value if value.nil? || value.respond_to?(:call)

        raise InvalidValue, "#{value.inspect} is not a lambda"
      end

      def command(value)
        return value if value.is_a?(String) && value.match?(/\S/)

        raise InvalidValue, "#{value.inspect} is not a command line"
      end

      def environment(value)
        raise InvalidValue, "#{value.inspect} is not a Hash" unless value.is_a?(Hash)

        value.to_h { |name, text| [name.to_s, text&.to_s] }
      end
    end
  end
end
