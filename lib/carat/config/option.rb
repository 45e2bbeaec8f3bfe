# frozen_string_literal: true

require_relative "invalid_value"
require_relative "type"

module Carat
  module Config
    # One option as its row in the table declares it.
    #
    #   name      Symbol: the method of the config file and the key in the edge's JSON
    #   type      Symbol: a key of Type::NAMES; `within` is the type's limit
    #   default   the value when nobody sets it, as a user would write it; `default_text` words it for readers
    #   env       names of environment variables beside CARAT_<NAME>
    #   short     the one-letter flag
    #   edge      whether the edge reads it
    #   only      [:flag] or [:flag, :env] for an option that not every source may set; `:flag, :env, :file` is the rule
    #   remedy    what to do about a value that is refused
    #   doc       one sentence
    Option = Struct.new(:name, :group, :type, :within, :default, :default_text, :env, :short, :edge, :only, :remedy,
                        :doc, keyword_init: true)

    # How an option's row answers the sources of its value.
    class Option
      SOURCES = %i[flag env file].freeze
      private_constant :SOURCES

      def initialize(**fields)
        super
        @reader = Type.build(type, within)
        freeze
      end

      # Returns `value` as the program uses it (bytes and counts Integer, seconds Float, paths absolute); nil stands for
      # itself where it is the default. Raises InvalidValue.
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

      def list?
        %i[addresses targets].include?(type)
      end

      def boolean?
        type == :boolean
      end

      # The long flag, such as `--max-body`.
      def flag
        "--#{name}".tr("_", "-")
      end

      # The environment variables that set this option, the strongest first.
      def variables
        from?(:env) ? ["CARAT_#{name.upcase}", *env] : []
      end

      # The word that stands for the value in the help; nil for a boolean.
      def metavar
        @reader.metavar
      end

      # The default as a reader writes it, such as `64 KiB`.
      def default_words
        default_text || (default.nil? ? "none" : text(default))
      end

      # How a reader writes a value that #parse has returned.
      def text(value)
        @reader.text(value)
      end
    end
  end
end
