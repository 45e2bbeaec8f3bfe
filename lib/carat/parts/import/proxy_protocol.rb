# frozen_string_literal: true

require_relative "call"

module Carat
  module CLI
    class Import
      # Puma's `set_remote_address proxy_protocol: :v1`, which becomes a parameter of each address.
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

        # Returns the code of a `bind` with the parameter added, if the file makes this call of set_remote_address;
        # otherwise the code as it is.
        def complete(code)
          match = BIND.match(code) if @condition
          return code unless match

          separator = match[:address].gsub(INTERPOLATION, "").include?("?") ? "&" : "?"
          parameter = "#{separator}#{PARAMETER}"
          parameter = "\#{#{parameter.inspect} if #{@condition}}" unless @condition.empty?
          "bind \"#{match[:address]}#{parameter}\""
        end

        private

        # Returns the condition under which the file makes the call, empty if there is none. Returns nil without a call,
        # or if the condition cannot be written into an address.
        def find(node, conditions)
          return unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)

          call = Call.at(node, @source, [NAME])
          return condition(conditions) if call&.pairs(0)&.key?("proxy_protocol")

          inner = %i[IF UNLESS].include?(node.type) ? [*conditions, node] : conditions
          node.children.filter_map { |child| find(child, inner) }.first
        end

        # Returns the condition as text, or nil unless it means the same everywhere in the file. Only a condition about
        # variables of ENV does that.
        def condition(conditions)
          return "" if conditions.empty?

          text = @source.of(conditions.first.children.first)
          text if conditions.size == 1 && conditions.first.type == :IF && text.match?(/\A(?:ENV\b|!ENV\b)[^#]*\z/)
        end
      end
    end
  end
end
