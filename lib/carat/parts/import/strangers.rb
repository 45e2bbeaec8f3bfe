# frozen_string_literal: true

require_relative "puma_dsl"

module Carat
  module CLI
    class Import
      # Finds what a configuration takes from Puma's process: constants, variables, and methods that plugins add.
      class Strangers
        CONSTANTS = {
          Puma: "Puma is not loaded here", DefaultRackup: PumaDSL::RACKUP,
          PumaWorkerKiller: PumaDSL::WORKER_KILLER
        }.freeze
        VARIABLES = %i[@config @options @plugins].freeze
        METHOD = "no method of Puma's own; if a plugin adds it, run what the plugin does beside Carat"
        # Nodes in which a name without a receiver may belong to another object.
        OTHER_SELF = %i[CLASS MODULE SCLASS DEFN DEFS LAMBDA].freeze
        # Nodes in which a bare name is a call and not a value.
        STATEMENTS = %i[SCOPE BLOCK].freeze
        private_constant :CONSTANTS, :METHOD, :OTHER_SELF, :STATEMENTS, :VARIABLES

        # `root` is the node of the whole file.
        def initialize(root)
          @defined = nodes(root, %i[DEFN IASGN]).map { |node| node.children.first }
          @selves = nodes(root, %i[LASGN]).filter_map { |node| node.children.first if self?(node.children.last) }
        end

        # Returns what to say about a node, or nil. `parents` are the nodes around it.
        def note(node, parents)
          name = node.children.first
          case node.type
          when :CONST then CONSTANTS[name]
          when :IVAR then "Carat has no #{name}" if VARIABLES.include?(name) && !@defined.include?(name)
          when :CALL then "write it without a receiver" if name.type == :LVAR && self?(name)
          when :FCALL then METHOD unless known?(name, parents)
          when :VCALL then METHOD unless !STATEMENTS.include?(parents.last&.type) || known?(name, parents)
          end
        end

        private

        def known?(name, parents)
          PumaDSL::NAMES.include?(name) || @defined.include?(name) || parents.any? { |parent| other_self?(parent) } ||
            Object.method_defined?(name) || Object.private_method_defined?(name)
        end

        # A block that a method of another object gets may run with another self.
        def other_self?(node)
          OTHER_SELF.include?(node.type) || (node.type == :ITER && node.children.first.type == :CALL)
        end

        # Whether the node is a variable that stands for the file itself.
        def self?(node)
          node.is_a?(RubyVM::AbstractSyntaxTree::Node) &&
            (node.type == :SELF || (node.type == :LVAR && @selves.include?(node.children.first)))
        end

        def nodes(node, types)
          return [] unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)

          own = types.include?(node.type) ? [node] : []
          node.children.reduce(own) { |all, child| all + nodes(child, types) }
        end
      end
    end
  end
end
