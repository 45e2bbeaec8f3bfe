# frozen_string_literal: true

require_relative "../../parts"
require_relative "puma_values"
require_relative "call"

module Carat
  module CLI
    class Import
      # The methods of the configuration of Puma 5.6 to 8, and the translation of each.
      module PumaDSL
        HANDOVER = "`carat restart` loads new code"
        CONNECTIONS = "the edge manages connections, whatever the workers do"
        SOCKET = "`carat status` and `carat memory` ask the control socket, which is always there"
        THREADS = "lanes are the only threads, and live as long as the worker; use on_worker_boot"
        ALWAYS = "Carat always does"
        NEVER = "Carat needs no such setting; delete the line"
        # The note for a call of the gem puma_worker_killer.
        WORKER_KILLER = 'in place of PumaWorkerKiller: worker_memory "300MB" replaces a worker that exceeds it'
        # The note for a rackup file that Carat finds by itself or that is not there.
        RACKUP = "Carat finds config.ru by itself; for another file, carat FILE"
        ZERO = "Carat's times are above 0"
        QUIET = "from Ruby 3.4 on, before a full collection, which needs no GC.start"
        private_constant :HANDOVER, :CONNECTIONS, :SOCKET, :THREADS, :ALWAYS, :NEVER, :ZERO, :QUIET

        # The options of Carat with the same meaning, each with the value that an omitted argument has in Puma.
        OPTIONS = {
          environment: [:environment], rackup: [:rackup], worker_boot_timeout: [:boot_timeout],
          worker_shutdown_timeout: [:shutdown_timeout], first_data_timeout: [:header_timeout],
          persistent_timeout: [:idle_timeout], http_content_length_limit: [:max_body],
          log_requests: [:access_log, "true"], early_hints: [:early_hints, "true"], pidfile: [:pidfile]
        }.freeze

        # The options of Carat that must be above 0 where Puma takes 0.
        TIMES = %i[boot_timeout shutdown_timeout header_timeout idle_timeout].freeze
        private_constant :TIMES

        # For each hook of Puma, the hook of Carat that runs at the same time.
        HOOKS = {
          before_fork: :on_mold_boot, before_worker_fork: :before_fork, on_worker_fork: :before_fork,
          before_worker_boot: :on_worker_boot, on_worker_boot: :on_worker_boot,
          before_worker_shutdown: :on_worker_shutdown, on_worker_shutdown: :on_worker_shutdown,
          before_refork: :before_refork, on_refork: :before_refork, after_refork: :after_refork,
          out_of_band: :on_quiet_worker
        }.freeze

        # The methods that PumaValues translates.
        VALUES = %i[bind cluster force_shutdown_after fork_worker plugin port preload_app! quiet set_remote_address
                    single stdout_redirect threads workers].freeze

        # The notes for methods that have no counterpart: what to do instead.
        NOTES = {
          _load_from: NEVER, _offer_plugins: NEVER,
          activate_control_app: SOCKET,
          after_booted: "Carat logs `listening` and writes to --ready-fd", on_booted: "see after_booted",
          after_stopped: "use at_exit in the application: the mold runs it", on_stopped: "see after_stopped",
          after_worker_boot: "there is no hook beside the workers; use on_worker_boot",
          after_worker_fork: "there is no hook beside the workers; use on_worker_boot",
          after_worker_shutdown: "there is no hook beside the workers; use on_worker_shutdown",
          allow_underscore_headers: "Carat drops such header fields; clients have to use hyphens",
          app: "put the application into config.ru",
          before_restart: HANDOVER, on_restart: HANDOVER, restart_command: HANDOVER,
          before_thread_start: THREADS, on_thread_start: THREADS, before_thread_exit: THREADS, on_thread_exit: THREADS,
          bind_to_activated_sockets: ALWAYS,
          clean_thread_locals: "each request of a lane sees the locals of its thread; clear them in a middleware",
          clear_binds!: "delete the addresses above that are not to be used",
          custom_logger: 'use log, and log_format "json"',
          daemonize: "a service manager, such as systemd, starts carat and keeps it (docs/services.md)",
          debug: NEVER,
          default_host: "write the host, such as 0.0.0.0",
          directory: "start carat in that directory: cd DIRECTORY && carat",
          drain_on_shutdown: ALWAYS,
          enable_keep_alives: CONNECTIONS,
          extra_runtime_dependencies: "add the gems to the Gemfile",
          get: "an option cannot be read; use a local variable",
          idle_timeout: "Carat does not stop for lack of requests; its own idle_timeout means connections",
          inject: NEVER, io_selector_backend: NEVER,
          load: "import that file too: carat import FILE",
          log_formatter: 'use log_format "json", or the text format',
          lowlevel_error_handler: "Carat logs the error and responds with 500; use a middleware for another response",
          max_fast_inline: CONNECTIONS, max_keep_alive: CONNECTIONS,
          mutate_stdout_and_stderr_to_sync_on_write: ALWAYS,
          nakayoshi_fork: ALWAYS,
          prune_bundler: NEVER,
          queue_requests: ALWAYS,
          rack_url_scheme: "config.assume_ssl, or X-Forwarded-Proto from the proxy",
          raise_exception_on_sigterm: "Carat exits with status 0 after SIGTERM",
          set_default_host: "write the host into bind",
          shutdown_debug: "the log names requests that do not finish",
          silence_fork_callback_warning: NEVER, silence_single_worker_warning: NEVER,
          solid_queue_mode: "for :async, write SolidQueue::Supervisor.start(mode: :async)",
          state_path: SOCKET, state_permission: SOCKET,
          supported_http_methods: "Carat passes every method on; refuse them in the application",
          tag: "processes are named by worker and generation",
          wait_for_less_busy_worker: "one queue feeds all workers; an idle one always comes first",
          worker_check_interval: "the edge sees at once when a worker dies",
          worker_culling_strategy: "the worker that has been idle for longest stops first",
          worker_timeout: "the edge sees at once when a worker dies; request_timeout ends requests that hang"
        }.freeze

        # The translations that the parts declare.
        OF_PARTS = Parts.map(&:puma_calls).freeze
        private_constant :OF_PARTS

        # The methods whose blocks are kept.
        BLOCKS = [*HOOKS.keys, :cluster].freeze

        # The names of all methods.
        NAMES = [*OPTIONS.keys, *HOOKS.keys, *VALUES, *NOTES.keys, *OF_PARTS.flat_map(&:keys)].uniq.freeze

        module_function

        # Returns the Translation of a Call.
        def translate(call)
          return Translation.new(nil, "translate it by hand") unless call.arguments

          OF_PARTS.filter_map { |calls| calls[call.name]&.call(call) }.first || translate_core(call)
        end

        def translate_core(call)
          return hook(call) if HOOKS.key?(call.name)
          return rackup(call) if call.name == :rackup
          return option(call) if OPTIONS.key?(call.name)
          return Translation.new(nil, NOTES.fetch(call.name)) if NOTES.key?(call.name)

          PumaValues.translate(call)
        end

        def option(call)
          name, omitted = OPTIONS.fetch(call.name)
          value = call.arguments.first || omitted
          return Translation.new(nil, "needs a value") unless value
          return Translation.new("#{name} 1", ZERO) if TIMES.include?(name) && call.number(0)&.zero?

          Translation.new("#{name} #{value}")
        end

        def rackup(call)
          return option(call) unless call.arguments.first.to_s.include?("DefaultRackup") || missing?(call.string(0))

          Translation.new(nil, RACKUP)
        end

        # Whether the file is missing here: the path may belong to another machine.
        def missing?(path)
          path && !File.file?(path)
        end

        def hook(call)
          return Translation.new(nil, "pass a block, do ... end") unless call.block?
          return Translation.new(nil, WORKER_KILLER) if call.text.include?("PumaWorkerKiller")

          Translation.new(HOOKS.fetch(call.name).to_s, hook_note(call))
        end

        def hook_note(call)
          return "once, in the mold, after it has loaded the application" if call.name == :before_fork
          return QUIET if call.name == :out_of_band
          return "Carat passes no second argument" if call.arguments.any?

          "Carat numbers workers from 1, Puma from 0" if call.parameters?
        end

        private_class_method :translate_core, :option, :rackup, :missing?, :hook, :hook_note
      end
    end
  end
end
