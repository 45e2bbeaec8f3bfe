# frozen_string_literal: true

require "json"
require_relative "../config/config_error"
require_relative "../config/options"
require_relative "../log/plain_json"

module Carat
  module Launch
    # The options that both the edge and the mold read. The mold takes the edge's values, from an environment variable:
    # the config file may have changed since the edge read it.
    module SharedOptions
      VARIABLE = "CARAT_SHARED_OPTIONS"
      private_constant :VARIABLE

      class << self
        # Removes the variable from `environment`, the mold's ENV.
        def restore(environment)
          environment.delete(VARIABLE)
        end

        # Returns a Hash with the variable. The block gets each Option and returns the edge's value.
        def variables
          options = Config::Options.select(&:mold)
          { VARIABLE => Log::PlainJSON.generate(options.to_h { |option| [option.name, yield(option)] }) }
        end

        # Returns the variable in `environment`, ENV or a Hash, for #values.
        def slice(environment)
          environment.slice(VARIABLE)
        end

        # Returns the values in `environment` as a Hash by name, which is empty without the variable. Raises ConfigError
        # for a value that was valid for the edge and is not here, such as a directory that root may use and the user of
        # the server may not.
        def values(environment)
          JSON.parse(environment.fetch(VARIABLE, "{}")).to_h do |name, value|
            option = Config::Options.fetch(name.to_sym)
            [option.name, (Config::InvalidValue.at(option.name) { option.parse(value) } unless value.nil?)]
          end
        end
      end
    end
  end
end
