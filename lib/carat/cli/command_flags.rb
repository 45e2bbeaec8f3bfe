# frozen_string_literal: true

require_relative "../config/config_error"
require_relative "../config/invalid_value"
require_relative "../config/type"

module Carat
  module CLI
    # The flags of single commands, which are no options of the server: `carat memory --json`.
    class CommandFlags
      # The type of each flag's value, by command and flag; nil for a flag without a value.
      TABLE = { memory: { "--pid" => [:integer, 1..], "--json" => nil } }.freeze
      # All of them.
      NAMES = TABLE.values.flat_map(&:keys).freeze

      def initialize
        @given = {}
      end

      # Takes a flag of NAMES; the block gives the word behind it. Raises ConfigError.
      def add(flag, value)
        type = TABLE.values.find { |flags| flags.key?(flag) }.fetch(flag)
        raise Config::ConfigError, "#{flag}: takes no value" if value && !type

        @given[flag] = type ? Config::Type.build(*type).parse(value || yield) : true
      rescue Config::InvalidValue => e
        raise Config::ConfigError, "#{flag}: #{e.message}"
      end

      # Returns the values by name, such as { pid: 42 }. Raises ConfigError for a flag that `command` does not have.
      def for(command)
        foreign = @given.keys - TABLE.fetch(command, {}).keys
        return @given.transform_keys { |flag| flag.delete_prefix("--").to_sym } if foreign.empty?

        owner, = TABLE.find { |_command, flags| flags.key?(foreign.first) }
        raise Config::ConfigError, "#{foreign.first}: is only for carat #{owner}"
      end
    end
  end
end
