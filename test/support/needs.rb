# frozen_string_literal: true

module Support
  # For classes of tests that need what is not installed everywhere: without it there is one test, which says so.
  module Needs
    # `obstacle` is why they cannot run, or nil.
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
