# frozen_string_literal: true

require_relative "../../carat"
require_relative "../config/config_error"
require_relative "../config/configuration"
require_relative "../launch/surroundings/mold_environment"
require_relative "../launch/shared_options"
require_relative "../log/error_report"
require_relative "../log/process_log"
require_relative "../native"
require_relative "../parts"
require_relative "../request/env_template"
require_relative "../warmup"
require_relative "../warmup/agents"
require_relative "../warmup/application"
require_relative "../warmup/console_log"
require_relative "../warmup/fork_safety"
require_relative "../warmup/pools/pool_size"
require_relative "measures/arenas"
require_relative "boot_failure"
require_relative "forker"
require_relative "measures/jit"
require_relative "measures/oom_score"
require_relative "signals"
require_relative "worker"
require_relative "worker_exit"

module Carat
  module Processes
    # The objects that the first mold has loaded, and that every process forked from it shares: the Rack application,
    # the Configuration, the EnvTemplate, and the mold's ProcessLog.
    AppContext = Struct.new(:app, :configuration, :template, :log)

    # The role of the process that loads the application and then forks workers from it.
    class Mold
      # EX_CONFIG of sysexits.h.
      BAD_CONFIG = 78

      # Runs the mold and then, in this process and in each forked one, the role that the last role returned: Forker,
      # Worker, Promotion. This loop keeps the stack from growing with the generations. `words` come from Flags#words.
      def self.start(words)
        shared = Launch::SharedOptions.slice(ENV)
        Launch::MoldEnvironment.restore(ENV)
        control = IO.for_fd(Integer(ENV.delete("CARAT_CONTROL_FD"), 10), "r+b")
        $PROGRAM_NAME = "carat" # Monitoring agents name the service after this; workers inherit it.
        Process.setproctitle("carat: mold gen=#{ENV.delete("CARAT_GENERATION")}")
        WorkerExit.install
        memory = ENV.delete("CARAT_MEMORY_LIMIT")&.to_i
        role = new(Native::Control.new(control), words, shared, memory)
        role = role.run while role
      ensure
        WorkerExit.prepare
      end

      # `control` is a Native::Control; `words` come from Flags#words; `shared` is the variable that SharedOptions
      # reads; `memory` is what the server may use, in bytes.
      def initialize(control, words, shared, memory)
        @control = control
        @words = words
        @shared = shared
        @memory = memory
        @log = Log::ProcessLog.new(mold: true)
        @started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      # Loads the application and returns the Forker, the next role of this process.
      def run
        settle
        load
        warm_up
        @control.ready
        Forker.new(@control, @context)
      rescue Native::LinkError => e
        @log.failure("the mold failed", e)
        exit(1)
      end

      private

      def settle
        Signals.ignore
        $stdout.sync = true
        Native.die_with_parent
        Native.close_listeners
        Native.limit_slice(0)
        Arenas.limit(ENV)
        OomScore.server.raise_by(OomScore::MOLD)
        @control.hello(:mold)
      end

      def load
        @configuration = Config::Configuration.from_words(@words).with(Launch::SharedOptions.values(@shared))
        @log = Log::ProcessLog.new(format: @configuration[:log_format], mold: true)
        ENV["RAILS_RELATIVE_URL_ROOT"] ||= @configuration[:prefix]
        Parts.each { |part| part.before_load(@control, @configuration) }
        app = Parts.reduce(load_application) { |rack, part| part.install(rack, @configuration) }
        Warmup::ConsoleLog.attach(ENV)
        Warmup::PoolSize.check(@configuration.concurrency, @configuration.capacity, log: @log)
        @context = AppContext.new(app, @configuration, Request::EnvTemplate.of(@configuration, @log), @log)
        @configuration.hooks.run(:on_mold_boot)
        announce
        Parts.each { |part| part.loaded(@control, @configuration) }
      rescue Config::ConfigError => e
        give_up(e.message, BAD_CONFIG)
      rescue Exception => e # rubocop:disable Lint/RescueException -- the edge receives whatever it is
        file = @configuration[:rackup] if @configuration
        give_up(BootFailure.new(e, file:).to_s, 1)
      end

      def load_application
        JIT.remark(@configuration[:jit])&.then { |remark| @log.warn(remark) }
        Warmup::ForkSafety.spared = @configuration[:fork_safe_threads]
        JIT.beside(@configuration, memory: @memory) do
          Warmup::Agents.beside(ENV, log: @log) { Warmup::Application.load(@configuration[:rackup]) }
        end
      end

      # Logs that the application is loaded, and the JIT that it may have enabled. Not with a log file, to which only
      # the edge writes.
      def announce
        return if @configuration[:log]

        details = { environment: @configuration[:environment], ruby: RUBY_VERSION, jit: JIT.name }.compact
        @log.info("application loaded", **details)
      end

      def warm_up
        targets = @configuration[:warm_up]
        deadline = Warmup.deadline(@started, @configuration[:boot_timeout])
        count = Warmup.first(@context.app, @context.template, targets, deadline:, log: @log,
                                                                       https: @configuration.https?)
        return if targets.empty? || @configuration[:log]

        jit = JIT.to_h || {}
        details = { requests: count, compiled: jit[:methods], machine_code: jit[:code] }.compact
        @log.info("application warmed up", **details)
      end

      def give_up(text, status)
        @control.boot_failed(text)
        exit(status)
      end
    end
  end
end
