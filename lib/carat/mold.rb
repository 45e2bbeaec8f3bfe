# frozen_string_literal: true

require_relative "../carat"
require_relative "application"
require_relative "arenas"
require_relative "boot_failure"
require_relative "env_template"
require_relative "fiber_isolation"
require_relative "figures"
require_relative "grandchild"
require_relative "mold_environment"
require_relative "signals"
require_relative "warmup"
require_relative "worker"
require_relative "worker_order"

module Carat
  # The process that has loaded the application and does nothing but fork workers of it.
  class Mold
    # EX_CONFIG of sysexits.h.
    BAD_CONFIG = 78

    # Runs the mold to its end; `argv` are the words after `carat`.
    def self.start(argv)
      MoldEnvironment.restore(ENV)
      new(Native::Control.new(Integer(ENV.delete("CARAT_CONTROL_FD"), 10)), argv).run
    end

    # `control` is a Native::Control.
    def initialize(control, argv)
      @control = control
      @argv = argv
      @edge = Process.ppid
    end

    # Loads the application, then forks workers until the edge is gone.
    def run
      settle
      load
      Warmup.first(@app, @template, @configuration[:warm_up])
      @control.ready
      obey
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
      @control.hello(:mold)
    end

    def load
      @configuration = Configuration.from_argv(@argv)
      require_relative "fiber_lane" if @configuration[:fibers]
      @app = Application.load(@configuration[:rackup])
      FiberIsolation.establish(@configuration[:fibers]) if @configuration[:fibers]
      @template = template
      @configuration.hooks.run(:on_mold_boot)
    rescue ConfigError => e
      give_up(e.message, BAD_CONFIG)
    rescue Exception => e # rubocop:disable Lint/RescueException -- whatever it is, the edge is told before the end
      file = @configuration[:rackup] if @configuration
      give_up(BootFailure.new(e, file:).to_s, 1)
    end

    def template
      EnvTemplate.new(release: Rack.release, capacity: @configuration[:fibers] || @configuration[:threads],
                      several: @configuration[:workers] != (1..1), spool_dir: @configuration[:spool_dir])
    end

    def give_up(text, status)
      @control.boot_failed(text)
      exit(status)
    end

    def obey
      while (message, *details = @control.receive)
        case message
        when :fork_worker then fork_worker(WorkerOrder.new(*details))
        when :ask_figures then @control.figures(Figures.new.to_json)
        when :drain then break
        end
      end
      exit
    end

    def fork_worker(order)
      Process.setproctitle("carat: mold gen=#{order.generation}")
      @configuration.hooks.run(:before_fork, order.worker)
      Grandchild.new(@edge).fork { work(order) }
    rescue StandardError => e
      refuse(order, BootFailure.new(e).to_s)
    ensure
      order.close
    end

    def work(order)
      @control.close
      Worker.new(order, @app, @configuration, @template).run
    end

    # The worker that never came to life says why it did not.
    def refuse(order, text)
      control = Native::Control.new(order.take_control)
      control.boot_failed(text)
    ensure
      control&.close
    end
  end
end
