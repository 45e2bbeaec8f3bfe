# frozen_string_literal: true

require_relative "../../config/config_error"

module Carat
  module Processes
    # The just-in-time compiler of this process.
    module JIT
      COMPILERS = { "yjit" => "YJIT", "zjit" => "ZJIT" }.freeze
      # Where code changes while it runs, and runs once.
      LOCAL = %w[development test].freeze
      private_constant :COMPILERS, :LOCAL

      module_function

      # Returns what the block returns, which loads the application. The Configuration says which compiler runs from
      # then on. Raises ConfigError when this process cannot.
      def beside(configuration)
        reserve(configuration[:jit])
        yield.tap { enable(configuration[:jit], configuration[:environment]) }
      end

      # Keeps the application from enabling another compiler than the option `jit` names, as Rails does when it has
      # started.
      def reserve(choice)
        return if choice == "auto"

        COMPILERS.except(choice).each_value do |name|
          RubyVM.const_get(name).define_singleton_method(:enable) { |*, **| false } if available?(name)
        end
      end

      # Enables a compiler as the option `jit` says, once the application is loaded: what runs only at the start is not
      # worth compiling. Raises ConfigError when this process cannot.
      def enable(choice, environment)
        choice = "yjit" if choice == "auto" && automatic?(environment)
        wanted = COMPILERS[choice]
        return if wanted.nil? || name == wanted
        raise Config::ConfigError, "jit: #{name} is enabled already" if name
        raise Config::ConfigError, "jit: this Ruby cannot enable #{wanted}" unless available?(wanted)

        RubyVM.const_get(wanted).enable
      end

      # Returns "YJIT", "ZJIT", or nil when no compiler is enabled.
      def name
        COMPILERS.each_value.find { |name| RubyVM.const_defined?(name) && RubyVM.const_get(name).enabled? }
      end

      # Returns the compiled methods and blocks (`methods`), and the bytes of machine code (`code`) and of what the
      # compiler keeps about it (`metadata`); nil without a compiler. Values that this Ruby does not tell are nil.
      def to_h
        case name
        when "YJIT" then figures("YJIT", RubyVM::YJIT.runtime_stats || {}, :code_region_size, :yjit_alloc_size)
        when "ZJIT" then figures("ZJIT", RubyVM::ZJIT.stats, :code_region_bytes, :zjit_alloc_bytes)
        end
      end

      def figures(name, stats, code, metadata)
        { name:, methods: stats[:compiled_iseq_count], code: stats[code], metadata: stats[metadata] }
      end

      # Rails 7.2 and later decide by `config.yjit`, and whoever starts Ruby by RUBYOPT.
      def automatic?(environment)
        decided = name || ENV.fetch("RUBYOPT", "").include?("jit") || rails_decides?
        !decided && !LOCAL.include?(environment) && available?("YJIT")
      end

      def rails_decides?
        defined?(::Rails.application.config) && ::Rails.application.config.respond_to?(:yjit)
      end

      # Whether this Ruby has the compiler and can enable it while it runs, as from 3.3 on.
      def available?(name)
        RubyVM.const_defined?(name) && RubyVM.const_get(name).respond_to?(:enable)
      end

      private_class_method :figures, :automatic?, :rails_decides?, :available?
    end
  end
end
