# frozen_string_literal: true

require_relative "option"

module Carat
  module Config
    # The one table of options: flags, variables, the config file's methods, the edge's JSON, `--help` and
    # docs/options.md come from it.
    module Options # rubocop:disable Metrics/ModuleLength -- it is a table
      extend Enumerable

      KIB = 1024
      MIB = 1024 * KIB
      GIB = 1024 * MIB
      private_constant :KIB, :MIB, :GIB

      TABLE = [
        Option.new(name: :rackup, group: "Application", type: :file, default: "config.ru",
                   remedy: "start carat beside it, or name one: carat path/to/config.ru",
                   doc: "The rackup file of the application; the argument without a flag."),
        Option.new(name: :config, group: "Application", type: :file, only: %i[flag env], short: "-C",
                   default_text: "carat.rb or config/carat.rb, if there", doc: "The config file to read."),
        Option.new(name: :environment, group: "Application", type: :string, default: "development", short: "-e",
                   env: %w[RACK_ENV RAILS_ENV], doc: "The environment that RACK_ENV names for the application."),

        Option.new(name: :bind, group: "Listening", type: :addresses, default: ["tcp://0.0.0.0:9292"], short: "-b",
                   env: %w[PORT], edge: true,
                   doc: "An address to listen on; may be given several times."),
        Option.new(name: :backlog, group: "Listening", type: :integer, within: 1..65_535, default: 1024, edge: true,
                   doc: "Connections that the kernel keeps waiting on each listener."),
        Option.new(name: :max_connections, group: "Listening", type: :integer, within: 1..1_000_000,
                   default: 16_384, edge: true,
                   doc: "Client connections that are open at once."),
        Option.new(name: :ready_fd, group: "Listening", type: :integer, within: 1..1_048_576, only: %i[flag],
                   edge: true,
                   doc: "A file descriptor that gets one line per listener when the first worker is ready."),

        Option.new(name: :workers, group: "Processes", type: :workers, default: 1..1, short: "-w",
                   env: %w[WEB_CONCURRENCY], edge: true,
                   doc: "Worker processes: a number, a range in which they follow the load, or what fits the machine."),
        Option.new(name: :threads, group: "Processes", type: :integer, within: 1..100, default: 3, short: "-t",
                   env: %w[RAILS_MAX_THREADS], edge: true, doc: "Requests that one worker runs at once."),
        Option.new(name: :fibers, group: "Processes", type: :integer, within: 1..30_000, short: "-f", edge: true,
                   doc: "Requests that one worker runs at once, each in a fiber of one thread, in place of `threads`."),
        Option.new(name: :stall_warning, group: "Processes", type: :seconds, default: 0.5,
                   doc: "With `fibers`: time for which a request may keep the others waiting before the log names it."),
        Option.new(name: :queue_time_target, group: "Processes", type: :seconds, default: 0.005, edge: true,
                   doc: "Time in the queue above which another worker is started, where `workers` leaves room."),
        Option.new(name: :worker_idle_timeout, group: "Processes", type: :seconds, default: 60, edge: true,
                   doc: "Time without a request after which a worker above the least number ends."),
        Option.new(name: :worker_requests, group: "Processes", type: :integer, within: 1..1_000_000_000, edge: true,
                   doc: "Requests after which a worker is replaced, give or take a tenth."),
        Option.new(name: :worker_age, group: "Processes", type: :seconds, edge: true,
                   doc: "Time after which a worker is replaced, give or take a tenth."),
        Option.new(name: :warm_up, group: "Processes", type: :targets, default: [],
                   doc: "A path that the mold requests of the application before it forks; repeatable."),
        Option.new(name: :boot_timeout, group: "Processes", type: :seconds, default: 60, edge: true,
                   doc: "Time to load and warm the application, and for a worker or the next mold to become ready."),
        Option.new(name: :shutdown_timeout, group: "Processes", type: :seconds, default: 25, edge: true,
                   doc: "Time for running requests to finish when the server stops."),

        Option.new(name: :memory, group: "Memory", type: :memory, within: MIB.., default: "80%", edge: true,
                   doc: "Memory for the whole server: 1 MiB or more, or a share of the container's or the machine's."),
        Option.new(name: :worker_memory, group: "Memory", type: :bytes, within: MIB.., edge: true,
                   doc: "Private memory above which a worker is replaced; 1 MiB or more."),
        Option.new(name: :refork, group: "Memory", type: :refork, default: "auto", edge: true,
                   doc: "When a worker that has served becomes the mold of the others."),
        Option.new(name: :gc, group: "Memory", type: :gc, default: "frugal",
                   doc: "How far the heap of Ruby's garbage collector grows."),
        Option.new(name: :allocator, group: "Memory", type: :choice, within: %w[jemalloc system], default: "jemalloc",
                   doc: "Who gives Ruby its memory."),
        Option.new(name: :control_socket, group: "Memory", type: :socket, edge: true,
                   default_text: "carat-PID.sock in spool_dir",
                   doc: "The Unix socket on which the server tells its figures to `carat memory`."),

        Option.new(name: :request_timeout, group: "Requests", type: :seconds, default: 60, edge: true,
                   doc: "Time until the application begins its answer; then 504."),
        Option.new(name: :queue_limit, group: "Requests", type: :integer, within: 1..1_000_000, default: 1024,
                   edge: true, doc: "Requests that wait for a worker; one more gets 503."),
        Option.new(name: :queue_timeout, group: "Requests", type: :seconds, default: 30, edge: true,
                   doc: "Time that a request waits for a worker; then 503."),
        Option.new(name: :inline_body_limit, group: "Requests", type: :bytes, within: 0..4 * MIB,
                   default: 64 * KIB, edge: true,
                   doc: "Request bodies up to this size travel in memory; larger ones in an unlinked file."),
        Option.new(name: :body_buffer, group: "Requests", type: :bytes, within: 4 * KIB..MIB,
                   default: 64 * KIB, edge: true,
                   doc: "How much of a large request body is read and written at once."),
        Option.new(name: :spool_dir, group: "Requests", type: :directory, default: "/var/tmp", edge: true,
                   doc: "The directory of those unlinked files."),
        Option.new(name: :spool_limit, group: "Requests", type: :bytes, default: 8 * GIB, edge: true,
                   doc: "Bytes in those files over all requests; a body that would exceed it gets 503."),
        Option.new(name: :request_body, group: "Requests", type: :choice, within: %w[whole stream], default: "whole",
                   edge: true, doc: "Whether the application begins when the body is there or reads it as it comes."),
        Option.new(name: :multipart, group: "Requests", type: :choice, within: %w[app edge], default: "app", edge: true,
                   doc: "Who takes the files out of a multipart/form-data body, the application or the edge."),
        Option.new(name: :decode_requests, group: "Requests", type: :boolean, default: false, edge: true,
                   doc: "Whether bodies in gzip, deflate, br or zstd are decoded before the application sees them."),

        Option.new(name: :max_body, group: "Client limits", type: :bytes, default: 1 * GIB, edge: true,
                   doc: "Size of a request body; a larger one gets 413."),
        Option.new(name: :max_decoded_body, group: "Client limits", type: :bytes, default: 1 * GIB, edge: true,
                   doc: "Size of a decoded request body; a larger one gets 413."),
        Option.new(name: :max_decode_ratio, group: "Client limits", type: :integer, within: 1..1_000_000_000,
                   default: 200, edge: true,
                   doc: "Decoded bytes for each byte of a coded body after the first 1 MiB; more get 413."),
        Option.new(name: :max_parts, group: "Client limits", type: :integer, within: 1..1_000_000, default: 4096,
                   edge: true, doc: "Parts of a form that the edge takes apart; more get 413."),
        Option.new(name: :max_files, group: "Client limits", type: :integer, within: 0..4096, default: 128, edge: true,
                   doc: "Files in such a form; more get 413."),
        Option.new(name: :max_part_header, group: "Client limits", type: :bytes, within: 64..MIB, default: 16 * KIB,
                   edge: true, doc: "Size of the header of one part; a larger one gets 413."),
        Option.new(name: :max_field_bytes, group: "Client limits", type: :bytes, default: 16 * MIB, edge: true,
                   doc: "Size of all fields of such a form together, without its files; a larger one gets 413."),
        Option.new(name: :max_header_bytes, group: "Client limits", type: :bytes, within: 1..MIB,
                   default: 64 * KIB, edge: true,
                   doc: "Size of a request's header; a larger one gets 431."),
        Option.new(name: :max_headers, group: "Client limits", type: :integer, within: 1..10_000,
                   default: 100, edge: true,
                   doc: "Header fields of a request; more get 431."),
        Option.new(name: :max_uri, group: "Client limits", type: :bytes, within: 1..65_534, default: 16 * KIB,
                   edge: true, doc: "Length of a request's target; a longer one gets 414."),
        Option.new(name: :header_timeout, group: "Client limits", type: :seconds, default: 15, edge: true,
                   doc: "Time for a client to send a whole header; then 408."),
        Option.new(name: :idle_timeout, group: "Client limits", type: :seconds, default: 65, edge: true,
                   doc: "Time that a kept connection may stay without a request."),
        Option.new(name: :body_min_rate, group: "Client limits", type: :bytes, within: 0.., default: 1 * KIB,
                   edge: true, default_text: "1 KiB",
                   doc: "Bytes per second that a body must average after 10 s; a slower one gets 408."),
        Option.new(name: :write_timeout, group: "Client limits", type: :seconds, default: 65, edge: true,
                   doc: "Time that a client may take nothing of its answer; then the connection is closed."),
        Option.new(name: :write_min_rate, group: "Client limits", type: :bytes, within: 0.., default: 1 * KIB,
                   edge: true, default_text: "1 KiB",
                   doc: "Bytes per second at which a client must take an answer that waits for it, after 10 s."),

        Option.new(name: :compress, group: "Answers", type: :boolean, default: false, edge: true,
                   doc: "Whether answers are sent in zstd, br or gzip to clients that take one."),
        Option.new(name: :compress_min_bytes, group: "Answers", type: :bytes, default: 1 * KIB, edge: true,
                   doc: "Answers shorter than this are never compressed."),
        Option.new(name: :gzip_level, group: "Answers", type: :integer, within: 1..9, default: 4, edge: true,
                   doc: "The level of gzip, from fast to small."),
        Option.new(name: :brotli_level, group: "Answers", type: :integer, within: 0..11, default: 4, edge: true,
                   doc: "The level of brotli, from fast to small."),
        Option.new(name: :zstd_level, group: "Answers", type: :integer, within: 1..19, default: 3, edge: true,
                   doc: "The level of zstd, from fast to small."),

        Option.new(name: :log, group: "Logs", type: :log, edge: true, default_text: "standard error",
                   doc: "The file that the log is appended to."),
        Option.new(name: :log_format, group: "Logs", type: :choice, within: %w[text json], default: "text", edge: true,
                   doc: "How a line of the log is written."),
        Option.new(name: :access_log, group: "Logs", type: :boolean, default: false, edge: true,
                   doc: "Whether each request gets a line in the log.")
      ].freeze

      BY_NAME = TABLE.to_h { |option| [option.name, option] }.freeze
      private_constant :BY_NAME

      module_function

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

      # Returns the text of docs/options.md.
      def to_markdown
        require_relative "options_page"
        OptionsPage.new.to_s
      end
    end
  end
end
