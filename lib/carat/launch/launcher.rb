# frozen_string_literal: true

require_relative "surroundings/control_directories"
require_relative "surroundings/identity"
require_relative "descriptors/inherited_descriptors"
require_relative "launch_error"
require_relative "surroundings/low_ports"
require_relative "surroundings/mold_environment"
require_relative "../config/options"
require_relative "../log/plain_json"
require_relative "../log/process_log"
require_relative "../native_path"
require_relative "descriptors/open_file_limit"
require_relative "surroundings/preload"
require_relative "surroundings/ruby_program"
require_relative "descriptors/socket_activation"
require_relative "upgrade"
require_relative "upgrade_command"
require_relative "descriptors/upgrade_descriptors"
require_relative "../version"
require_relative "surroundings/working_directory"

module Carat
  module Launch
    # Replaces this process with the edge, which starts all other processes of the server.
    class Launcher
      # The nanoseconds that threads of the edge compute for at a time. While workers compute, a thread with a shorter
      # time gets a CPU sooner.
      SLICE = 100_000
      # The Ruby code that runs the mold.
      BOOT = "module Carat; Processes::Mold.start(ARGV); end"
      MOLD = ["carat/processes/mold", BOOT].freeze
      private_constant :SLICE, :MOLD

      # The Ruby code that reads the configuration again, at a restart.
      READ = "module Carat; Launch::FreshSettings.write(ARGV); end"

      # `configuration` is a Configuration. `words`, from Flags#words, let the mold read the configuration again.
      # `pid_file` is the path of a file that contains this process id already, or nil. `edge` is the path of the edge
      # program, or nil when it is not built. `mold` is the library that the mold requires, and the code that it then
      # runs.
      def initialize(configuration, words, pid_file: nil, edge: NativePath.edge, mold: MOLD)
        @configuration = configuration
        @words = words
        @pid_file = pid_file || configuration[:pidfile]
        @edge = edge
        @mold = mold
        @identity = Identity.new(configuration)
        @descriptors = descriptors
      end

      # Executes the edge and does not return. Warnings go to the ProcessLog `log`. Raises LaunchError when the edge is
      # missing or cannot be executed, and ConfigError when this process may not do what the configuration says.
      def launch(log:)
        raise LaunchError, "carat: #{NativePath.missing}" unless @edge

        @descriptors.check
        obstacle = LowPorts.new(@descriptors.addresses).obstacle
        raise LaunchError, "carat: #{obstacle}" if obstacle

        variables = environment
        [Preload.new(@configuration, ENV).obstacle, @identity.warning].compact.each { |remark| log.warn(remark) }
        OpenFileLimit.raise_soft
        ignore_file_size_signal
        File.umask(@configuration[:umask]) if @configuration[:umask]
        shorten_slices
        Process.exec(variables, [@edge, "carat-edge"], **@descriptors.redirections)
      rescue SystemCallError => e
        raise LaunchError, "carat: #{@edge} cannot be executed: #{e.message}"
      end

      # Returns the value of CARAT_EDGE_SETTINGS, a Hash by name.
      def edge_settings
        @configuration.for_edge.merge(
          bind: @descriptors.addresses, ready_fd: @descriptors.ready,
          chosen_connections: (@configuration[:max_connections] if @configuration.chosen?(:max_connections)),
          identity: @identity.to_h, version: VERSION, directory: WorkingDirectory.new.path, pid_file: @pid_file,
          processes: @configuration.processes.map(&:for_edge), launch: launch_settings
        )
      end

      private

      # The commands that the edge runs, and what it has to know about the server's surroundings.
      def launch_settings
        { mold_command:, reader_command:, upgrade_command: UpgradeCommand.new(@words).to_a,
          mold_environment: MoldEnvironment.new(@configuration).to_h, start_options:,
          control_socket_name: Config::Options::CONTROL_SOCKET,
          control_directories: ControlDirectories.new(uid: @identity.uid).to_a, ignores_hangup: ignores_hangup? }
      end

      def descriptors
        if (upgrade = Upgrade.under_way)
          return UpgradeDescriptors.new(upgrade.replace(@configuration[:bind]), upgrade)
        end

        addresses = SocketActivation.new.replace(@configuration[:bind])
        InheritedDescriptors.new(addresses, @configuration[:ready_fd])
      end

      # Ignores SIGXFSZ: a write beyond RLIMIT_FSIZE then fails with an error to report, and does not kill the process.
      # The edge and its children inherit this.
      def ignore_file_size_signal
        Signal.trap(:XFSZ, "IGNORE")
      end

      # Lets the threads of the edge compute for `SLICE` at a time. Its children inherit this; the mold takes it back.
      def shorten_slices
        require_relative "../native" # Other commands run where nothing is compiled.
        Native.limit_slice(SLICE)
      end

      # Whether this process ignores SIGHUP, as under nohup: SIGHUP is signal 1, the lowest bit of the mask.
      def ignores_hangup?
        File.read("/proc/self/status")[/^SigIgn:\s*(\h+)/, 1].hex.odd?
      end

      def environment
        { "CARAT_EDGE_SETTINGS" => Log::PlainJSON.generate(edge_settings), **WorkingDirectory.new.variables,
          **@descriptors.variables }
      end

      # The values of options that only a start applies, and that the edge does not read. FreshSettings compares them.
      def start_options
        options = Config::Options.reject { |option| option.edge || option.restart? }
        options.to_h { |option| [option.name, @configuration[option.name]] }
      end

      def mold_command
        ruby_command(*@mold)
      end

      def reader_command
        ruby_command("carat/launch/fresh_settings", READ)
      end

      def ruby_command(library, program)
        [*RubyProgram.command, "-r", library, "-e", program, "--", *@words]
      end
    end
  end
end
