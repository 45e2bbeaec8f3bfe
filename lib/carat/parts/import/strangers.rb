# frozen_string_literal: true

require_relative "puma_dsl"

module Carat
  module CLI
    class Import
      # Finds the constants, variables, and methods of plugins that a configuration uses, and that exist only in Puma's
      # process.
      class Strangers
        CONSTANTS = {
          Puma: "Puma is not loaded here", DefaultRackup: PumaDSL::RACKUP,
          PumaWorkerKiller: PumaDSL::WORKER_KILLER
        }.freeze
        VARIABLES = %i[@config @options @plugins].freeze
        METHOD = "no method of Puma's own; if a plugin adds it, run what the plugin does beside Carat"
        # The types of nodes in which `self` may be another object than the configuration.
        OTHER_SELF = %i[CLASS MODULE SCLASS DEFN DEFS LAMBDA].freeze
        # The types of nodes in which a bare name is a call, not a value.
        STATEMENTS = %i[SCOPE BLOCK].freeze
        private_constant :CONSTANTS, :METHOD, :OTHER_SELF, :STATEMENTS, :VARIABLES

        # `root` is the node of the whole file.
        def initialize(root)
          @defined = nodes(root, %i[DEFN IASGN]).map { |node| node.children.first }
          @selves = nodes(root, %i[LASGN]).filter_map { |node| node.children.first if self?(node.children.last) }
        end

        # Returns the note about a node, or nil. `parents` are the nodes around it.
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

        # Whether `self` may be another object in the node. A block that is passed to another object's method may run
        # with another self.
        def other_self?(node)
          OTHER_SELF.include?(node.type) || (node.type == :ITER && node.children.first.type == :CALL)
        end

        # Whether the node is `self`, or a variable to which the file has assigned `self`.
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
