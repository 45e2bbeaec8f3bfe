# frozen_string_literal: true

require_relative "../../config/config_error"
require_relative "../../processes/measures/jit"
require_relative "finding"

module Carat
  module CLI
    class Doctor
      # Checks which JIT compilers this Ruby has, and which one the option `jit` chooses.
      class RubyBuild
        # `jit` is Processes::JIT, or an object with the same methods.
        def initialize(configuration, jit: Processes::JIT)
          @choice, @environment = %i[jit environment].map { |name| configuration[name] }
          @jit = jit
        end

        # Returns the Finding.
        def finding
          chosen = @jit.chosen(@choice, @environment)
          level = @jit.remark(@choice) ? :warning : :ok
          Finding.public_send(level, "ruby", "#{RUBY_VERSION} #{compilers}#{decision(chosen)}")
        rescue Config::ConfigError => e
          Finding.problem("ruby", "#{RUBY_VERSION} #{compilers}; #{e.message}")
        end

        private

        def compilers
          return "is built without YJIT, which makes most applications faster" if @jit.built.empty?

          "has #{@jit.built.join(" and ")}"
        end

        def decision(chosen)
          return if @jit.built.empty?
          return "; #{@jit.remark(@choice) || "#{@jit.name} is enabled"}" if @jit.name
          return "; jit #{@choice.inspect} enables #{chosen}#{exception}" if chosen

          "; jit #{@choice.inspect} enables none#{reason}"
        end

        def exception
          ", unless the application decides (Rails: config.yjit)" if @choice == "auto"
        end

        def reason
          return if @choice == "off"
          return " in #{@environment}" if @jit.local?(@environment)

          ": RUBYOPT decides, or only RUBYOPT=--yjit can"
        end
      end
    end
  end
end
