# frozen_string_literal: true

require_relative "config_error"
require_relative "type"

module Carat
  module Config
    # One row of the option table.
    #
    #   name      Symbol: the method of the config file
    #   part      Symbol: the section in the edge's JSON, the key of the Part that declares the option; nil for the core
    #   key       Symbol: the key in the edge's JSON, if it is not the name
    #   type      Symbol: a key of Type::NAMES, or a Type::Rule of the part; `within` limits the type
    #   default   the value when no source sets it, as a user would write it; `default_text` describes it to readers,
    #             and `in_development` replaces it in the development environment
    #   env       names of environment variables besides CARAT_<NAME>
    #   short     the one-letter flag
    #   edge      whether the edge reads it
    #   mold      whether the mold uses the edge's value rather than reading its own
    #   restart   whether a change takes effect at a restart; without it, only if the edge does not read the option
    #   only      [:flag], [:file] or [:flag, :env] for an option that not every source may set
    #   remedy    what to do about a rejected value
    #   secret    whether no command prints the value
    #   limit     for a limit on clients or the application: the status or the end that follows when it is exceeded
    #   doc       one sentence
    Option = Struct.new(:name, :part, :key, :group, :type, :within, :default, :default_text, :in_development, :env,
                        :short, :edge, :mold, :restart, :only, :remedy, :secret, :limit, :doc, keyword_init: true)

    # One row of the option table.
    class Option
      SOURCES = %i[flag env file].freeze
      private_constant :SOURCES

      def initialize(key: nil, **fields)
        super(key: key || fields[:name], **fields)
        @reader = Type.build(type, within)
        freeze
      end

      # Returns `value` in the form that the program uses: bytes and counts as Integer, seconds as Float, paths
      # absolute. nil is valid when it is the default. Raises InvalidValue.
      def parse(value)
        value.nil? && default.nil? ? nil : @reader.parse(value)
      rescue InvalidValue => e
        raise unless remedy

        raise InvalidValue, "#{e.message}; #{remedy}"
      end

      # Whether `source` (:flag, :env or :file) may set this option.
      def from?(source)
        (only || SOURCES).include?(source)
      end

      # Whether a change takes effect at a restart, rather than at the next start of the server.
      def restart?
        restart.nil? ? !edge : restart
      end

      # Whether repeated values add up.
      def list?
        %i[addresses endpoints networks path_ends pools static targets].include?(type)
      end

      # Returns the values of a list option: the `earlier` ones, then `values`. Raises InvalidValue.
      def join(earlier, values)
        type == :pools ? @reader.join(earlier, values) : earlier + values
      end

      # Returns what separates the values in a variable. For addresses, only a comma before a scheme does, because an
      # address may contain commas.
      def separator
        type == :addresses ? %r{,(?=\s*\w+://)} : ","
      end

      # Returns the keys that lead to the value in the edge's JSON, Strings.
      def path
        [*("parts" if part), *part, key].map(&:to_s)
      end

      # Whether the flag needs no value.
      def boolean?
        type == :boolean
      end

      # Returns the long flag, such as `--max-body`.
      def flag
        "--#{name}".tr("_", "-")
      end

      # Returns the environment variables that set this option, the strongest first.
      def variables
        from?(:env) ? ["CARAT_#{name.upcase}", *env] : []
      end

      # Returns the placeholder for the value in the help; nil for a boolean.
      def metavar
        @reader.metavar
      end

      # Returns the default as readers see it, such as `64 KiB`.
      def default_words
        return "#{text(default)}; #{in_development} in development" if in_development

        default_text || (default.nil? ? "none" : text(default))
      end

      # Returns `value`, which #parse returned, as readers see it.
      def text(value)
        @reader.text(value)
      end
    end
  end
end
