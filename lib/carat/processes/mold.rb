# frozen_string_literal: true

require_relative "../../carat"
require_relative "../config/config_error"
require_relative "../config/configuration"
require_relative "../launch/mold_environment"
require_relative "../native"
require_relative "../request/env_template"
require_relative "../warmup"
require_relative "../warmup/application"
require_relative "../warmup/fiber_isolation"
require_relative "app_context"
require_relative "arenas"
require_relative "boot_failure"
require_relative "forker"
require_relative "oom_score"
require_relative "signals"
require_relative "worker"

module Carat
  module Processes
    # The process that loads the application, and from then on does nothing but fork workers of it.
    class Mold
      # EX_CONFIG of sysexits.h.
      BAD_CONFIG = 78
      # The part of boot_timeout in which requests that warm the application are done; the rest is for the heap.
      WARM_UP_SHARE = 0.75
      private_constant :WARM_UP_SHARE

      # Runs the mold, and in each process that is forked of it what that is: a Worker, and after a Promotion a Forker
      # again. Each begins where the last one has returned, so that nothing piles up however many generations there are.
      # `words` are those of Flags#words.
      def self.start(words)
        Launch::MoldEnvironment.restore(ENV)
        control = IO.for_fd(Integer(ENV.delete("CARAT_CONTROL_FD"), 10), "r+b")
        role = new(Native::Control.new(control), words)
        role = role.run while role
      end

      # `control` is a Native::Control.
      def initialize(control, words)
        @control = control
        @words = words
        @started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      # Loads the application, and returns the Forker that this process is from now on.
      def run
        settle
        load
        Warmup.first(@loaded.app, @loaded.template, @configuration[:warm_up], deadline: warm_up_deadline)
        @control.ready
        Forker.new(@control, @loaded)
      rescue Native::LinkError => e
        abort "carat: mold: #{e.message}"
      end

      private

      def settle
        Process.setproctitle("carat: mold")
        Signals.ignore
        $stdout.sync = true
        Native.die_with_parent
        Native.close_listeners
        Arenas.limit(ENV)
        OomScore.server.raise_by(OomScore::MOLD)
        @control.hello(:mold)
      end

      def load
        @configuration = Config::Configuration.from_words(@words)
        require_relative "../request/fiber_lane" if @configuration[:fibers]
        app = Warmup::Application.load(@configuration[:rackup])
        Warmup::FiberIsolation.establish(@configuration[:fibers]) if @configuration[:fibers]
        @loaded = AppContext.new(app, @configuration, template)
        @configuration.hooks.run(:on_mold_boot)
      rescue Config::ConfigError => e
        give_up(e.message, BAD_CONFIG)
      rescue Exception => e # rubocop:disable Lint/RescueException -- whatever it is, the edge is told before the end
        file = @configuration[:rackup] if @configuration
        give_up(BootFailure.new(e, file:).to_s, 1)
      end

      def template
        Request::EnvTemplate.new(release: Rack.release, capacity: @configuration[:fibers] || @configuration[:threads],
                                 several: @configuration[:workers] != (1..1), spool_dir: @configuration[:spool_dir])
      end

      def warm_up_deadline
        @started + (@configuration[:boot_timeout] * WARM_UP_SHARE)
      end

      def give_up(text, status)
        @control.boot_failed(text)
        exit(status)
      end
    end
  end
end
