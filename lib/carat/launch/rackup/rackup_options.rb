# frozen_string_literal: true

require_relative "../../config/options"
require_relative "../../config/sources/spelling"

module Carat
  module Launch
    # The options for `rackup -O NAME=VALUE`: the options of the option table, except three for which `rackup` has
    # flags.
    module RackupOptions
      # The Options that are passed on.
      PASSED = Config::Options.from(:file).reject { |option| %i[rackup environment bind].include?(option.name) }.freeze

      # The options that rackup and Rails add by themselves.
      THEIRS = %i[AccessLog DoNotReverseLookup Host Port app builder caching config daemonize debug early_hints
                  environment heapfile include log_stdout pid profile_file profile_mode quiet require restart
                  restart_cmd server user_supplied_options warn].freeze
      private_constant :THEIRS

      module_function

      # Returns the options as rackup lists them: a Hash of descriptions by `name=VALUE`.
      def listed
        address = { "Host=HOST" => "Host to listen on", "Port=PORT" => "Port to listen on" }
        address.merge(PASSED.to_h { |option| ["#{option.name}=#{option.metavar || "true|false"}", option.doc] })
      end

      # Returns the key of `option` in `given`, the Hash that rackup passes to a handler, or nil. The name may begin
      # with a capital letter, as rackup's own options do. Rails passes nil for flags that were not given.
      def key(option, given)
        [option.name, option.name.to_s.capitalize.to_sym].find { |name| !given[name].nil? }
      end

      # Returns a message for each option in `given` that has no effect.
      def warnings(given)
        known = THEIRS + PASSED.filter_map { |option| key(option, given) }
        (given.keys - known).map do |name|
          hint = Config::Spelling.hint(name, PASSED.map(&:name))
          "#{name}: no such option#{hint} (rackup -s carat --help lists them)"
        end
      end
    end
  end
end
