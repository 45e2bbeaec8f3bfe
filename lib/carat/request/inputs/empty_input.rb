# frozen_string_literal: true

require_relative "memory_input"

module Carat
  module Request
    # The `rack.input` of a request without a body. A MemoryInput, which contains a StringIO, is made only when the
    # application uses it: most applications never do, and a StringIO costs a tenth of a small request.
    class EmptyInput
      # Removed, because Kernel has private methods with the same names: `send(:gets)` would read the standard input.
      (MemoryInput.public_instance_methods & private_instance_methods).each { |name| undef_method(name) }

      # Returns a description without the MemoryInput.
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
