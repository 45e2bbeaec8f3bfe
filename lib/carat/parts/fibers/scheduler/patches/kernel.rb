# frozen_string_literal: true

require_relative "../../../../native"
require_relative "../selecting"

module Carat
  class Scheduler < Native::Scheduler
    module Patches
      # Patches `select` in Ruby 3.1, which has no hook for it, and no way to run a block as if there were no scheduler.
      module Kernel
        # Waits in the fiber, as Kernel#select does.
        def select(readable, writable = nil, exceptional = nil, timeout = nil)
          scheduler = Fiber.current_scheduler
          return super unless scheduler.is_a?(Scheduler)

          lists = [readable, writable, exceptional]
          scheduler.select_with(timeout, lists) { super(*lists, 0) }
        end
      end

      if RUBY_VERSION < "3.2"
        [::IO.singleton_class, ::Kernel.singleton_class].each { |owner| owner.prepend(Kernel) }
        ::Kernel.prepend(Kernel.clone.tap { |hook| hook.send(:private, :select) })
      end
    end
  end
end
