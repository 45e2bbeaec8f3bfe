# frozen_string_literal: true

module Support
  # For test classes that need something that is not installed everywhere: without it they have one skipped test.
  module Needs
    # @param obstacle [String, nil] why the tests cannot run
    def needs(obstacle)
      return unless obstacle

      owner = self
      define_singleton_method(:runnable_methods) { equal?(owner) ? ["test_what_is_needed_is_there"] : [] }
      prepend(Module.new do
        define_method(:setup) { nil }
        define_method(:teardown) { nil }
        define_method(:test_what_is_needed_is_there) { skip obstacle }
      end)
    end
  end
end
