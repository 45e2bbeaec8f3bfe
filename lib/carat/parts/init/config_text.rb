# frozen_string_literal: true

require_relative "../../config/options"
require_relative "../../parts"
require_relative "../../cli/units"
require_relative "../../cli/machine_limits"

module Carat
  module CLI
    class Init
      # The text of a carat.rb: options that matter to most applications, each with its sentence from the option table.
      class ConfigText
        HEAD = <<~RUBY
          # frozen_string_literal: true

          # Carat's configuration of %s. `carat check` validates it; `carat --help` lists all options.
          # A line with # before its option changes nothing until you remove the #. A flag wins over this file, and this
          # file wins over environment variables, such as PORT, WEB_CONCURRENCY, and RAILS_MAX_THREADS.
        RUBY
        # The memory limit of a container below which only one worker with few threads fits, and one process for the
        # jobs.
        SMALL_BYTES = 384 << 20
        SMALL = "# The container has %s: these lines are what fits (docs/deploy.md, \"In 256 MB\")."
        JOBS = <<~RUBY
          # Solid Queue (1.3 or later) in one further process, in threads. Its config/queue.yml counts; bin/jobs need not run.
          process("jobs", stop_timeout: "30s", only: :production) { SolidQueue::Supervisor.start(mode: :async) }
        RUBY
        POOL = "The pool in config/database.yml must be as large."
        private_constant :SMALL_BYTES, :SMALL, :JOBS, :HEAD, :POOL

        # `application` is an Application; `limits` are MachineLimits, or nil when they cannot be read.
        def initialize(application, limits: MachineLimits.read)
          @application = application
          @container = limits&.container_memory
        end

        # Returns the text, which is Ruby.
        def to_s
          [format(HEAD, @application.name), *paragraphs].join("\n")
        end

        private

        def paragraphs
          [
            suggestion(:bind, '"tcp://127.0.0.1:3000"'), *size, *checks,
            suggestion(:request_timeout, '"30s"'), suggestion(:max_body, '"100MB"'),
            *Parts.flat_map { |part| part.init_lines(@application) }.map { |kind, *line| send(kind, *line) },
            suggestion(:access_log, "true")
          ]
        end

        def size
          pool = POOL if @application.database?
          return small(*pool) if @container && @container <= SMALL_BYTES

          [suggestion(:workers, "1..4"), suggestion(:threads, "5", *pool), suggestion(:worker_memory, '"400MB"')]
        end

        def small(*pool)
          [format("#{SMALL}\n", Units.bytes(@container)), setting(:workers, "1"), setting(:threads, "3", *pool),
           setting(:memory, '"90%"'), setting(:client_memory, '"8MB"'), setting(:jit, '"off"'),
           *(JOBS if @application.solid_queue?)]
        end

        # The lines for `warm_up` and `restart_check`. The health check of Rails is set for both, because it changes
        # nothing and so may run at each start.
        def checks
          path = @application.health_path
          %i[warm_up restart_check].map do |name|
            path ? setting(name, path.inspect) : suggestion(name, '"/"')
          end
        end

        def suggestion(name, value, *remarks)
          paragraph(name, remarks, "# #{name} #{value}")
        end

        def setting(name, value, *remarks)
          paragraph(name, remarks, "#{name} #{value}")
        end

        def paragraph(name, remarks, line)
          option = Config::Options.fetch(name)
          "# #{[option.doc, *remarks].join(" ")} Default: #{option.default_words}.\n#{line}\n"
        end
      end
    end
  end
end
