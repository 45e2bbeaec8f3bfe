# frozen_string_literal: true

require_relative "finding"

module Carat
  module CLI
    class Doctor
      # Whether this Ruby has YJIT, and whether it is enabled.
      class RubyBuild
        # `yjit` is RubyVM::YJIT, or nil when Ruby was built without it.
        def initialize(_configuration, yjit: defined?(RubyVM::YJIT) ? RubyVM::YJIT : nil)
          @yjit = yjit
        end

        # Returns the Finding.
        def finding
          Finding.ok("ruby", "#{RUBY_VERSION} #{state}")
        end

        private

        def state
          return "is built without YJIT, which makes most applications faster" unless @yjit
          return "runs with YJIT, whose machine code workers share after `warm_up` or a refork" if @yjit.enabled?

          "has YJIT, which the option `jit` enables outside of development"
        end
      end
    end
  end
end
