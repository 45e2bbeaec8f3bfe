# frozen_string_literal: true

require_relative "call"

module Carat
  module CLI
    class Import
      # `set_remote_address proxy_protocol: :v1`: for Carat, a parameter of each address.
      class ProxyProtocol
        NAME = :set_remote_address
        PARAMETER = "proxy_protocol=true"
        BIND = /\Abind "(?<address>.*)"\z/m
        INTERPOLATION = /\#\{[^{}]*\}/
        private_constant :BIND, :INTERPOLATION, :NAME, :PARAMETER

        # `root` is the node of the whole file.
        def initialize(root, source)
          @source = source
          @condition = find(root, [])
        end

        # Returns the code of `bind` with the parameter, as far as the file asks for it.
        def complete(code)
          match = BIND.match(code) if @condition
          return code unless match

          separator = match[:address].gsub(INTERPOLATION, "").include?("?") ? "&" : "?"
          parameter = "#{separator}#{PARAMETER}"
          parameter = "\#{#{parameter.inspect} if #{@condition}}" unless @condition.empty?
          "bind \"#{match[:address]}#{parameter}\""
        end

        private

        # Returns the condition of the call, empty if it has none; nil without a call, or if the condition cannot move
        # into an address.
        def find(node, conditions)
          return unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)

          call = Call.at(node, @source, [NAME])
          return condition(conditions) if call&.pairs(0)&.key?("proxy_protocol")

          inner = %i[IF UNLESS].include?(node.type) ? [*conditions, node] : conditions
          node.children.filter_map { |child| find(child, inner) }.first
        end

        # Only a condition that holds everywhere in the file can move into an address.
        def condition(conditions)
          return "" if conditions.empty?

          text = @source.of(conditions.first.children.first)
          text if conditions.size == 1 && conditions.first.type == :IF && text.match?(/\A(?:ENV\b|!ENV\b)[^#]*\z/)
        end
      end
    end
  end
end
