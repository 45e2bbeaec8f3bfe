# frozen_string_literal: true

require_relative "../../config/config_error"

module Carat
  module Processes
    # The just-in-time compiler of this process.
    module JIT
      COMPILERS = { "yjit" => "YJIT", "zjit" => "ZJIT" }.freeze
      # The environments in which code changes while it runs, or runs only once.
      LOCAL = %w[development test].freeze
      # The divisor of the server's memory: each process may use that part of it for machine code and its description.
      # Ruby's own limit, for all workers together, is more than a small container has.
      MEMORY_SHARE = 16
      # The lowest limit, in MiB as Ruby takes it. It suffices for a small Rails application.
      MEMORY_LEAST = 16
      # Ruby's own limit, in MiB.
      MEMORY_DEFAULT = 128
      private_constant :COMPILERS, :LOCAL, :MEMORY_SHARE, :MEMORY_LEAST, :MEMORY_DEFAULT

      module_function

      # Calls the block, which loads the application, and returns its value. Then enables the compiler that the
      # Configuration names. `memory` is what the server may use, in bytes. Raises ConfigError when this process cannot
      # enable it.
      def beside(configuration, memory: nil)
        reserve(configuration[:jit])
        yield.tap { enable(configuration[:jit], configuration[:environment], memory:) }
      end

      # Keeps the application from enabling a compiler that the option `jit` does not name: Rails enables one when it
      # has started.
      def reserve(choice)
        return if choice == "auto"

        COMPILERS.except(choice).each_value do |name|
          RubyVM.const_get(name).define_singleton_method(:enable) { |*, **| false } if available?(name)
        end
      end

      # Enables the compiler that `chosen` names. To be called once the application is loaded, because code that runs
      # only at the start is not worth compiling. `memory` is what the server may use, in bytes, or nil. Raises
      # ConfigError.
      def enable(choice, environment, memory: nil)
        wanted = chosen(choice, environment) or return
        RubyVM.const_get(wanted).then { |compiler| compiler.enable(**limit(compiler, memory)) }
      end

      # Returns the name of the compiler that Carat enables by the option `jit`, or nil. Raises ConfigError when this
      # process cannot enable it.
      def chosen(choice, environment)
        choice = "yjit" if choice == "auto" && automatic?(environment)
        wanted = COMPILERS[choice]
        return if wanted.nil? || name == wanted
        raise Config::ConfigError, "jit: #{name} is enabled already" if name
        raise Config::ConfigError, "jit: this Ruby cannot enable #{wanted}" unless available?(wanted)

        wanted
      end

      # Returns a sentence when a compiler runs although `jit` is "off", or nil. Nothing can disable a compiler.
      def remark(choice)
        "jit is \"off\", but #{name} was enabled before, such as by RUBYOPT" if choice == "off" && name
      end

      # Returns the names of the compilers that this Ruby was built with.
      def built
        COMPILERS.values.select { |name| RubyVM.const_defined?(name) }
      end

      # Whether `environment` is one in which "auto" enables no compiler.
      def local?(environment)
        LOCAL.include?(environment)
      end

      # Returns "YJIT", "ZJIT", or nil when no compiler is enabled.
      def name
        COMPILERS.each_value.find { |name| RubyVM.const_defined?(name) && RubyVM.const_get(name).enabled? }
      end

      # Returns the number of compiled methods and blocks (`methods`), and the bytes of machine code (`code`) and of the
      # compiler's own data about it (`metadata`). Returns nil without a compiler. A value that this Ruby does not tell
      # is nil.
      def to_h
        case name
        when "YJIT" then figures("YJIT", RubyVM::YJIT.runtime_stats || {}, :code_region_size, :yjit_alloc_size)
        when "ZJIT" then figures("ZJIT", RubyVM::ZJIT.stats, :code_region_bytes, :zjit_alloc_bytes)
        end
      end

      def figures(name, stats, code, metadata)
        { name:, methods: stats[:compiled_iseq_count], code: stats[code], metadata: stats[metadata] }
      end

      # Whether "auto" enables YJIT: unless Rails 7.2 or later decides by `config.yjit`, or the user has decided by
      # RUBYOPT.
      def automatic?(environment)
        decided = name || ENV.fetch("RUBYOPT", "").include?("jit") || rails_decides?
        !decided && !local?(environment) && available?("YJIT")
      end

      def rails_decides?
        defined?(::Rails.application.config) && ::Rails.application.config.respond_to?(:yjit)
      end

      # Whether this Ruby has the compiler and can enable it while it runs, which is possible from Ruby 3.3 on.
      def available?(name)
        RubyVM.const_defined?(name) && RubyVM.const_get(name).respond_to?(:enable)
      end

      # The memory limit as an argument of `enable`, which takes one from Ruby 4.0 on.
      def limit(compiler, memory)
        return {} unless memory && compiler.method(:enable).parameters.include?(%i[key mem_size])

        mem_size = (memory / MEMORY_SHARE / (1024 * 1024)).clamp(MEMORY_LEAST..)
        mem_size < MEMORY_DEFAULT ? { mem_size: } : {}
      end

      private_class_method :figures, :automatic?, :rails_decides?, :available?, :limit
    end
  end
end
