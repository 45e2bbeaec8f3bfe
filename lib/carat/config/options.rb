# frozen_string_literal: true

require_relative "../parts"
require_relative "option"

module Carat
  module Config
    # The option table, the only declaration of an option. Flags, environment variables, methods of the config file, the
    # settings of the edge, `--help` and docs/options.md derive from it. The table joins the options of the core and of
    # the parts.
    module Options # rubocop:disable Metrics/ModuleLength -- it is a table
      extend Enumerable

      KIB = 1024
      MIB = 1024 * KIB
      GIB = 1024 * MIB
      private_constant :KIB, :MIB, :GIB

      # The file name of a server's control socket; PID stands for the server's process id.
      CONTROL_SOCKET = "carat-PID.sock"

      # The Options of the core.
      CORE = [
        Option.new(name: :rackup, group: "Application", type: :file, default: "config.ru",
                   remedy: "start carat beside it, or name one: carat path/to/config.ru",
                   doc: "The rackup file of the application; also the argument without a flag."),
        Option.new(name: :config, group: "Application", type: :file, only: %i[flag env], short: "-C",
                   default_text: "carat.rb or config/carat.rb, if there", doc: "The config file to read."),
        Option.new(name: :environment, group: "Application", type: :string, default: "development", short: "-e",
                   env: %w[RACK_ENV RAILS_ENV], doc: "The value of RACK_ENV for the application."),

        Option.new(name: :bind, group: "Listening", type: :addresses, default: ["tcp://*:9292"], short: "-b",
                   env: %w[PORT], edge: true, doc: "An address to listen on; repeatable."),
        Option.new(name: :backlog, group: "Listening", type: :integer, within: 1..65_535, default: 4096, edge: true,
                   doc: "Connections that may wait in the kernel for each listener to accept them."),
        Option.new(name: :max_connections, group: "Listening", type: :integer, within: 1..1_000_000,
                   default: 16_384, edge: true, limit: "waits",
                   doc: "Maximum number of open client connections; the limit of open files may allow fewer."),
        Option.new(name: :trusted_proxies, group: "Proxies", type: :networks, edge: true,
                   default_text: "Unix sockets; nothing is removed",
                   doc: "A network whose hosts, and no others, may name their clients; repeatable, or `none`."),
        Option.new(name: :proxy_headers, group: "Proxies", type: :choice, within: %w[x-forwarded forwarded],
                   default: "x-forwarded", edge: true,
                   doc: "Whether trusted proxies set X-Forwarded-For and its like, or `forwarded`: Forwarded."),
        Option.new(name: :ready_fd, group: "Listening", type: :integer, within: 1..1_048_576, only: %i[flag],
                   edge: true,
                   doc: "A file descriptor that receives one line per listener when the first worker is ready."),

        Option.new(name: :control_socket, group: "Service", type: :socket, edge: true,
                   default_text: "#{CONTROL_SOCKET} in a private directory",
                   doc: "The Unix socket on which the server responds to commands such as `carat status`."),
        Option.new(name: :pidfile, group: "Service", type: :pidfile, restart: false,
                   doc: "A file that holds the process id of the server while it runs; /dev/null: none."),
        Option.new(name: :user, group: "User", type: :user, restart: false,
                   doc: "The user that a server started by root becomes once its ports are bound."),
        Option.new(name: :group, group: "User", type: :group, default_text: "the user's group", restart: false,
                   doc: "The group that the server gets with that user."),
        Option.new(name: :umask, group: "User", type: :umask, default_text: "inherited", restart: false,
                   doc: "Permissions that new files of the server and the application do not get."),

        Option.new(name: :workers, group: "Processes", type: :workers, default: 1..1, short: "-w",
                   env: %w[WEB_CONCURRENCY], edge: true, restart: true, mold: true,
                   doc: "Worker processes: a number, a range that follows the load, or what the machine has room for."),
        Option.new(name: :threads, group: "Processes", type: :integer, within: 1..100, default: 3, short: "-t",
                   env: %w[RAILS_MAX_THREADS], edge: true, restart: true, mold: true,
                   doc: "Requests that a worker runs at once."),
        Option.new(name: :queue_time_target, group: "Processes", type: :seconds, default: 0.005, edge: true,
                   restart: true, doc: "Queue time above which another worker starts, within the range of `workers`."),
        Option.new(name: :worker_idle_timeout, group: "Processes", type: :seconds, default: 60, edge: true,
                   restart: true, doc: "Idle time after which a worker above the minimum of `workers` is stopped."),
        Option.new(name: :worker_requests, group: "Processes", type: :integer, within: 1..1_000_000_000, edge: true,
                   restart: true, doc: "Requests after which a worker is replaced, plus or minus 10 %."),
        Option.new(name: :worker_age, group: "Processes", type: :seconds, edge: true, restart: true,
                   doc: "Age at which a worker is replaced, plus or minus 10 %."),
        Option.new(name: :warm_up, group: "Processes", type: :targets, default: [],
                   doc: "A path that the mold requests from the application before it forks; repeatable."),
        Option.new(name: :restart_check, group: "Processes", type: :targets, default: [], edge: true, restart: true,
                   doc: "A path that the first new worker must answer before a restart continues; repeatable."),
        Option.new(name: :restart_file, group: "Processes", type: :optional_path, default: "tmp/restart.txt",
                   edge: true, doc: "A file that restarts the server when it is made or touched."),
        Option.new(name: :restart_hold, group: "Processes", type: :boolean, default: true, edge: true, restart: true,
                   doc: "Whether a restart may keep requests waiting while no worker runs, if memory needs it."),
        Option.new(name: :keep_previous, group: "Processes", type: :seconds, default: 60, edge: true, restart: true,
                   doc: "How long the old mold is kept after a restart, for `carat restart --rollback`."),
        Option.new(name: :boot_timeout, group: "Processes", type: :seconds, default: 60,
                   edge: true, restart: true, mold: true,
                   doc: "Time limit for the application to load, and for a worker or the next mold to become ready."),
        Option.new(name: :drain_delay, group: "Processes", type: :timeout, edge: true, restart: true,
                   default_text: "off",
                   doc: "How long the server keeps serving before it stops, while `readiness_path` gets 503."),
        Option.new(name: :readiness_path, group: "Processes", type: :targets, default: [], edge: true,
                   doc: "A path of the application that gets 503 during `drain_delay`; repeatable."),
        Option.new(name: :shutdown_timeout, group: "Processes", type: :seconds, default: 25, edge: true, restart: true,
                   limit: 504, doc: "How long running requests may take to finish when the server stops."),
        Option.new(name: :tunnel_timeout, group: "Processes", type: :seconds, default: 5, in_development: 0.1,
                   edge: true, restart: true,
                   doc: "How long WebSockets and other hijacked connections may last when their worker stops."),
        Option.new(name: :upgrade_timeout, group: "Processes", type: :seconds, default: 300, edge: true, restart: true,
                   limit: 504, doc: "How long the old edge may take to finish after `carat upgrade`."),

        Option.new(name: :memory, group: "Memory", type: :memory, within: MIB.., default: "80%",
                   edge: true, restart: true,
                   doc: "Memory limit of the server: bytes, or a share of the container's or the machine's memory."),
        Option.new(name: :client_memory, group: "Memory", type: :memory, within: MIB.., edge: true,
                   default_text: "10 % of memory, 8 to 256 MiB", limit: 503,
                   doc: "Memory that clients may make the edge hold: bytes, or a share of `memory`."),
        Option.new(name: :worker_memory, group: "Memory", type: :bytes, within: MIB.., edge: true, restart: true,
                   doc: "Private memory above which a worker is replaced; at least 1 MiB."),
        Option.new(name: :refork, group: "Memory", type: :refork, default: "auto", edge: true, restart: true,
                   doc: "When a warm worker becomes the mold of the others."),
        Option.new(name: :fork_safe_threads, group: "Memory", type: :path_ends, default: [],
                   doc: "The end of the path of a file whose threads do not keep a worker from becoming the mold; " \
                        "repeatable."),
        Option.new(name: :gc, group: "Memory", type: :gc, default: "frugal",
                   doc: "How fast the heap of Ruby's garbage collector grows."),
        Option.new(name: :jit, group: "Memory", type: :choice, within: %w[auto yjit zjit off], default: "auto",
                   doc: "The JIT compiler: `auto` is YJIT outside of development, unless the application decides."),
        Option.new(name: :allocator, group: "Memory", type: :choice, within: %w[jemalloc system], default: "jemalloc",
                   doc: "Memory allocator for the Ruby processes."),

        Option.new(name: :request_timeout, group: "Requests", type: :timeout, default: 60, edge: true, restart: true,
                   in_development: "off", limit: 504,
                   doc: "How long the application may take to begin its response; then 504."),
        Option.new(name: :slow_request, group: "Requests", type: :timeout, edge: true, restart: true,
                   default_text: "off", doc: "Time without a response after which the log says where requests stand."),
        Option.new(name: :queue_limit, group: "Requests", type: :integer, within: 1..1_000_000, default: 1024,
                   edge: true, restart: true, limit: 503,
                   doc: "Requests that may wait for a worker; further ones get 503."),
        Option.new(name: :queue, group: "Requests", type: :choice, within: %w[adaptive fifo], default: "adaptive",
                   edge: true, restart: true,
                   doc: "Whether an overload serves the newest requests and refuses the oldest, or nothing changes."),
        Option.new(name: :queue_delay, group: "Requests", type: :seconds, default: 0.5, edge: true, restart: true,
                   limit: 503, doc: "Wait that all requests must exceed before `queue` sees an overload."),
        Option.new(name: :pool, group: "Requests", type: :pools, default: [], only: %i[file], edge: true, limit: 503,
                   doc: "Paths whose requests get a queue and a bound of their own, or a priority; repeatable."),
        Option.new(name: :queue_timeout, group: "Requests", type: :seconds, default: 30, edge: true, restart: true,
                   limit: 503, doc: "How long a request may wait for a worker; then 503."),
        Option.new(name: :request_start, group: "Requests", type: :boolean, default: true, edge: true,
                   doc: "Tell the application in X-Request-Start when a request began to wait for a worker."),
        Option.new(name: :prefix, group: "Requests", type: :prefix, edge: true, mold: true,
                   doc: "The path below which the application is reached, its SCRIPT_NAME; other paths get 404."),
        Option.new(name: :inline_body_limit, group: "Requests", type: :bytes, within: 0..4 * MIB,
                   default: 64 * KIB, edge: true,
                   doc: "Request bodies up to this size stay in memory; larger ones go to an unlinked file."),
        Option.new(name: :body_buffer, group: "Requests", type: :bytes, within: 4 * KIB..MIB, default: 64 * KIB,
                   edge: true, doc: "Chunk size for reading and writing large request bodies."),
        Option.new(name: :spool_dir, group: "Requests", type: :directory, default: "/var/tmp", edge: true, mold: true,
                   doc: "The directory of the unlinked files."),
        Option.new(name: :spool_limit, group: "Requests", type: :bytes, default: 8 * GIB, edge: true,
                   limit: 503, doc: "Total size of the unlinked files; a body that would exceed it gets 503."),
        Option.new(name: :request_body, group: "Requests", type: :choice, within: %w[whole stream], default: "whole",
                   edge: true,
                   doc: "Whether the application starts when the body is complete or reads it as it arrives."),

        Option.new(name: :max_body, group: "Client limits", type: :bytes, default: 1 * GIB, edge: true,
                   limit: 413, doc: "Maximum size of a request body; a larger one gets 413."),
        Option.new(name: :max_header_bytes, group: "Client limits", type: :bytes, within: 1..MIB, default: 64 * KIB,
                   edge: true, limit: 431, doc: "Maximum size of the headers of a request; larger ones get 431."),
        Option.new(name: :max_headers, group: "Client limits", type: :integer, within: 1..10_000, default: 100,
                   edge: true, limit: 431, doc: "Maximum number of header fields in a request; more get 431."),
        Option.new(name: :max_tunnels, group: "Client limits", type: :integer, within: 0..1_000_000,
                   edge: true, default_text: "as many as connections", limit: 503,
                   doc: "Maximum number of WebSockets and other hijacked connections; 0 turns them off."),
        Option.new(name: :max_uri, group: "Client limits", type: :bytes, within: 1..65_534, default: 16 * KIB,
                   edge: true, limit: 414, doc: "Maximum length of a request target; a longer one gets 414."),
        Option.new(name: :header_timeout, group: "Client limits", type: :seconds, default: 15, edge: true,
                   limit: 408, doc: "How long a client may take to send the headers of a request; then 408."),
        Option.new(name: :idle_timeout, group: "Client limits", type: :seconds, default: 65,
                   env: %w[PUMA_PERSISTENT_TIMEOUT], edge: true, limit: "close",
                   doc: "How long a connection may stay open without a request."),
        Option.new(name: :body_min_rate, group: "Client limits", type: :bytes, within: 0.., default: 1 * KIB,
                   edge: true, default_text: "1 KiB", limit: 408,
                   doc: "Minimum average rate of a request body in bytes per second, after 10 s; then 408."),
        Option.new(name: :write_timeout, group: "Client limits", type: :seconds, default: 65, edge: true,
                   limit: "reset",
                   doc: "How long a client may stop reading a response before its connection is closed."),
        Option.new(name: :write_min_rate, group: "Client limits", type: :bytes, within: 0.., default: 1 * KIB,
                   edge: true, default_text: "1 KiB", limit: "reset",
                   doc: "Minimum rate at which a client must read a waiting response in bytes per second, after 10 s."),

        Option.new(name: :early_hints, group: "Responses", type: :boolean, default: false,
                   doc: "Whether the application may send 103 Early Hints, which an old nginx takes for the response."),

        Option.new(name: :log, group: "Logs", type: :log, edge: true, default_text: "standard error",
                   doc: "The log file, to which Carat appends; `-` or /dev/stdout: standard output."),
        Option.new(name: :log_format, group: "Logs", type: :choice, within: %w[text json], default: "text", edge: true,
                   mold: true, doc: "Format of log lines."),
        Option.new(name: :access_log, group: "Logs", type: :boolean, default: false, edge: true,
                   doc: "Whether each request is logged.")
      ].freeze

      # All Options, in the order of the help.
      TABLE = [*CORE, *Parts.options].group_by(&:group).values.flatten.freeze

      BY_NAME = TABLE.to_h { |option| [option.name, option] }.freeze
      private_constant :BY_NAME, :CORE

      module_function

      # Yields each Option.
      def each(&)
        TABLE.each(&)
      end

      # Returns the option called `name`, a Symbol; raises KeyError.
      def fetch(name)
        BY_NAME.fetch(name)
      end

      # Returns the options that `source` (:flag, :env or :file) may set.
      def from(source)
        TABLE.select { |option| option.from?(source) }
      end

      # Returns the options that the edge reads.
      def for_edge
        TABLE.select(&:edge)
      end
    end
  end
end
