# frozen_string_literal: true

require "rbconfig"

module Support
  # How a server under test starts: its files, its command line, and its environment.
  class ServerOptions
    ROOT = File.expand_path("../..", __dir__)
    CONFIG = "carat.rb"
    COMMAND = [RbConfig.ruby, File.join(ROOT, "exe/carat")].freeze
    # Variables of the surrounding shell or CI must not change a test.
    NEUTRAL_ENV = %w[PORT WEB_CONCURRENCY RAILS_MAX_THREADS RACK_ENV RAILS_ENV LISTEN_FDS LISTEN_PID NOTIFY_SOCKET
                     WATCHDOG_USEC]
                  .concat(ENV.keys.grep(/\ACARAT_(?!TEST_)/)).to_h { |name| [name, nil] }
                  .merge("CARAT_RELOAD" => "false").freeze # tests change files, and say when code is replaced
    # Encoding.default_external and default_internal of the servers' Ruby. Rails sets both to UTF-8.
    ENCODING_ENV = ENV.values_at("CARAT_TEST_ENCODING").compact
                      .to_h { |name| ["RUBYOPT", "#{ENV.fetch("RUBYOPT", "")} -E#{name}:#{name}"] }.freeze
    DEFAULTS = {
      app: "run ->(_env) { [200, {}, []] }",                 # the content of config.ru
      config: nil,                                           # the content of a config file, passed with -C
      workers: nil,                                          # -w
      threads: nil,                                          # -t
      fibers: ENV.fetch("CARAT_TEST_FIBERS", nil),           # -f
      binds: ["tcp://127.0.0.1:0"].freeze,                   # one -b each
      args: [].freeze,                                       # further arguments
      env: {}.freeze,                                        # further environment
      files: {}.freeze,                                      # further files: content by relative path
      command: COMMAND,
      flags: true,                                           # whether the command takes Carat's flags
      spawn: {}.freeze                                       # for Process.spawn, such as inherited descriptors
    }.freeze

    # @raise [ArgumentError] when an option is not in DEFAULTS
    def initialize(given)
      unknown = given.keys - DEFAULTS.keys
      raise ArgumentError, "unknown: #{unknown.join(", ")}" if unknown.any?

      @values = DEFAULTS.merge(given)
    end

    # Contents by relative path.
    def files
      @values[:files].merge({ "config.ru" => @values[:app], CONFIG => @values[:config] }.compact)
    end

    # The whole command line. A command that takes Carat's flags announces its listeners on the given descriptor.
    def command_line(ready_fd)
      sizes = { "-w" => @values[:workers], "-t" => @values[:threads], "-f" => @values[:fibers],
                "-C" => @values[:config] && CONFIG }
      flags = [*sizes.compact.flatten.map(&:to_s), *@values[:binds].flat_map { |bind| ["-b", bind] },
               "--ready-fd", ready_fd.to_s]
      [*@values[:command], *(flags if flags?), *@values[:args]]
    end

    def flags?
      @values[:flags]
    end

    def env
      NEUTRAL_ENV.merge(ENCODING_ENV, @values[:env])
    end

    # Keyword arguments for Process.spawn.
    def spawn
      @values[:spawn]
    end
  end
end
