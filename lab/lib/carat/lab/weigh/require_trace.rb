# frozen_string_literal: true

require_relative "../ledger"

module Carat
  module Lab
    module Weigh
      # Opens an account of the Ledger for each file that the main thread loads: by `require`, `require_relative`,
      # `load`, or an autoload.
      class RequireTrace
        # One call. `file` is the path of the loaded file, or the name of one that was not loaded; `outcome` is :loaded,
        # :known when the file had been loaded already, or :failed.
        Call = Struct.new(:number, :file, :outcome)

        # Libraries that search the backtrace for the file that requires them skip lines with this name.
        INTERNAL = "<internal:carat>"

        # Replaces the methods, as RubyGems does. A prepended module would not survive libraries that alias them, and
        # Bundler makes `require` the original that RubyGems has kept. Ruby's `require_relative` calls that one, too,
        # and not what RubyGems or a library has put in its place.
        HOOKS = <<~'RUBY'
          kept = Kernel.private_method_defined?(:gem_original_require) ? :gem_original_require : :require
          { Kernel => [kept, :load], Kernel.singleton_class => %i[require load] }.each do |owner, names|
            names.each do |name|
              original = owner.instance_method(name)
              owner.define_method(name) do |path, *rest|
                number = trace.enter
                begin
                  result = original.bind_call(self, path, *rest)
                ensure
                  trace.leave(number, name, path, result)
                end
              end
            end
            owner.define_method(:require_relative) do |path|
              place = caller_locations(1, 1).first
              __send__(kept, File.expand_path(path, File.dirname(place.absolute_path || place.path)))
            end
          end
          Kernel.send(:private, kept, :load, :require_relative)
        RUBY
        private_constant :HOOKS

        # The Calls, in the order in which they ended.
        attr_reader :calls

        def initialize
          @calls = []
          @thread = Thread.current
        end

        # Begins to trace, for the rest of the life of the process.
        def install
          trace = self
          binding.eval(HOOKS, INTERNAL)
          trace
        end

        # Returns the number of an account, or nil in other threads.
        def enter
          Ledger.open if Thread.current.equal?(@thread)
        end

        # Ends the call that `enter` began; `name` is the method, and `result` what it returned.
        def leave(number, name, path, result)
          return unless number

          Ledger.close(number)
          file = name != :load && result ? $LOADED_FEATURES.last : path.to_s
          outcome = { true => :loaded, false => :known, nil => :failed }.fetch(result)
          @calls << Call.new(number, file, outcome)
        end
      end
    end
  end
end
