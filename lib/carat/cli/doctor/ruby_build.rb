# frozen_string_literal: true

require_relative "finding"

module Carat
  module CLI
    class Doctor
      # Whether this Ruby has YJIT, and the processes would use it.
      class RubyBuild
        # `yjit` is RubyVM::YJIT, or nil where Ruby is built without it.
        def initialize(_configuration, yjit: defined?(RubyVM::YJIT) ? RubyVM::YJIT : nil)
          @yjit = yjit
        end

        def finding
          Finding.ok("ruby", "#{RUBY_VERSION} #{state}")
        end

        private

        def state
          return "is built without YJIT: one that has it runs most applications faster" unless @yjit
          return "runs with YJIT: its code is memory that each worker may come to have of its own" if @yjit.enabled?

          "has YJIT, and it is off unless the application turns it on: RUBYOPT=--yjit takes memory and saves time"
        end
      end
    end
  end
end
