# frozen_string_literal: true

require_relative "config/option"

module Carat
  # An optional capability of the server: its options and its code stand in one folder of lib/carat/parts, and no other
  # file of the server names it but the list, lib/carat/parts.rb.
  class Part
    KIB = 1024
    MIB = 1024 * KIB
    GIB = 1024 * MIB
    private_constant :KIB, :MIB, :GIB

    class << self
      # The key of the part's section in the settings of the edge, such as :http2.
      def key
        name[/\w+\z/].downcase.to_sym
      end

      # The Options of the part.
      def options
        @options ||= []
      end

      private

      # Declares an option; `fields` are those of Config::Option.
      def option(name, **fields)
        options << Config::Option.new(name:, part: key, **fields)
      end
    end

    # What the edge reads in the part's section beside its options, a Hash by name. `configuration` is a
    # Config::Configuration.
    def edge_settings(_configuration) = {}
  end

  private_constant :Part
end
