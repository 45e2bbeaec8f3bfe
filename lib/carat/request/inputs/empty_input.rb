# frozen_string_literal: true

require_relative "memory_input"

module Carat
  module Request
    # `rack.input` of a request without a body: a MemoryInput that is made when the application first uses it. Most
    # applications never do, and a StringIO costs a tenth of a small request.
    class EmptyInput
      # Kernel has private methods of the same names: `send(:gets)` would read the standard input.
      (MemoryInput.public_instance_methods & private_instance_methods).each { |name| undef_method(name) }

      # Leaves out the MemoryInput.
      def inspect
        "#<#{self.class}>"
      end

      private

      def method_missing(name, ...)
        return super unless respond_to_missing?(name, false)

        (@input ||= MemoryInput.new(String.new)).public_send(name, ...)
      end

      def respond_to_missing?(name, _include_all)
        MemoryInput.public_method_defined?(name)
      end
    end
  end
end
