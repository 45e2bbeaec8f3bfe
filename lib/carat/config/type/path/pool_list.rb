# frozen_string_literal: true

require_relative "../../config_error"

module Carat
  module Config
    module Type
      # Pools: classes of requests, chosen by path, each with its own queue, and perhaps a bound of its own.
      class PoolList
        SETTINGS = %i[paths threads queue_limit priority].freeze
        NAME = /\A[a-z][a-z0-9_-]{0,31}\z/
        # The name of the pool for all requests that no declared pool takes.
        MAIN = "main"
        PATH = %r{\A/[!-~&&[^*?#%]]*\*?\z}
        PRIORITIES = %w[low normal high].freeze
        # The most pools.
        LIMIT = 16
        # The most paths of one pool.
        PATHS_LIMIT = 64
        # The longest path in bytes.
        PATH_LIMIT = 1024
        # The values that `threads` and `queue_limit` may have.
        COUNT = 1..1_000_000
        private_constant :COUNT, :LIMIT, :MAIN, :NAME, :PATH, :PATHS_LIMIT, :PATH_LIMIT, :PRIORITIES, :SETTINGS

        # Reads one pool, a name and a Hash of its settings, or an empty Array. Returns an Array of Hashes. Raises
        # InvalidValue.
        def parse(value)
          return value if value == []

          name, settings = value
          raise InvalidValue, "takes a name and paths:" unless value.size == 2 && settings.is_a?(Hash)

          refuse_unknown(settings)
          [{ name: name(name), paths: paths(settings[:paths]), threads: count(settings, :threads),
             queue_limit: count(settings, :queue_limit), priority: priority(settings[:priority] || "normal") }]
        end

        # Returns the pools that were declared before, followed by `pools`. Raises InvalidValue.
        def join(earlier, pools)
          raise InvalidValue, "there are #{LIMIT} already" if earlier.size >= LIMIT

          twice = earlier.find { |pool| pool[:name] == pools.dig(0, :name) }
          raise InvalidValue, "#{twice[:name]} is declared twice" if twice

          earlier + pools
        end

        # Returns `value`, a result of #parse, as text for users.
        def text(value)
          value.empty? ? "none" : value.map { |it| "#{it[:name]} (#{it[:paths].join(", ")})" }.join(", ")
        end

        # Returns the placeholder for a value in the help.
        def metavar
          "NAME"
        end

        private

        def refuse_unknown(settings)
          unknown = settings.keys - SETTINGS
          return if unknown.empty?

          raise InvalidValue, "#{unknown.first.inspect} is none of #{SETTINGS.join(", ")}"
        end

        def name(value)
          name = value.to_s
          raise InvalidValue, "#{name.inspect} is not a name of small letters, digits, - and _" unless NAME.match?(name)
          raise InvalidValue, "#{MAIN} is the pool of all other requests" if name == MAIN

          name
        end

        def paths(value)
          paths = Array(value)
          raise InvalidValue, "paths: takes 1 to #{PATHS_LIMIT} paths" unless (1..PATHS_LIMIT).cover?(paths.size)

          paths.each do |path|
            next if path.is_a?(String) && path.bytesize <= PATH_LIMIT && PATH.match?(path) && !path.include?("//")

            raise InvalidValue, "paths: #{path.inspect} is not a decoded path such as /export or /reports/*"
          end
        end

        def count(settings, key)
          value = settings[key]
          return value if value.nil? || (value.is_a?(Integer) && COUNT.cover?(value))

          raise InvalidValue, "#{key}: #{value.inspect} is not a whole number, #{COUNT.begin} to #{COUNT.end}"
        end

        def priority(value)
          return value.to_s if PRIORITIES.include?(value.to_s)

          raise InvalidValue, "priority: #{value.inspect} is none of #{PRIORITIES.join(", ")}"
        end
      end
    end
  end
end
