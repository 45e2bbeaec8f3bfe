# frozen_string_literal: true

require "uri"
require_relative "eventually"
require_relative "gate"
require_relative "process_tree"
require_relative "raw_client"
require_relative "server_directory"
require_relative "server_options"

module Support
  # A real Carat in a temporary directory, on a port that the kernel chooses.
  #
  #   server = Support::Server.new(app: 'run ->(_env) { [200, {}, ["hello"]] }', workers: 2).start
  #   server.get("/").body # => "hello"
  #   server.stop
  class Server
    READY_FD = 9

    # The server ended before it was ready. The message contains its log.
    class BootFailed < StandardError; end

    # A boot_timeout that every healthy boot keeps to, however busy the machine is: ten times what one takes.
    # @return [Integer] seconds
    def self.ample_boot_seconds
      @ample_boot_seconds ||= begin
        started = Eventually.now
        server = new.start
        [10 * (Eventually.now - started), 2].max.ceil
      end
    ensure
      server&.destroy
      server&.directory&.remove
    end

    # How long it may take until a boot has exceeded that boot_timeout, which on a busy machine is longer than other
    # deadlines.
    # @return [Integer] seconds
    def self.missed_boot_seconds
      ample_boot_seconds + Eventually::DEADLINE_SECONDS
    end

    # @return [ServerDirectory]
    attr_reader :directory
    # @return [Array<String>] the URLs of its listeners, in the order of its binds
    attr_reader :urls
    # @return [Integer] the edge's pid
    attr_reader :pid
    # @return [Process::Status, nil] nil until the edge has ended
    attr_reader :status

    # @param options see ServerOptions::DEFAULTS
    def initialize(**options)
      @options = ServerOptions.new(options)
      @directory = ServerDirectory.new(@options.files)
      @urls = []
    end

    # Starts the server and returns self when its first worker is ready.
    # @raise [BootFailed] when it ends first; [Eventually::TooLate] when it is not ready in time
    def start(within: Eventually::DEADLINE_SECONDS)
      ready = launch
      @urls = @options.flags? ? announced(ready, within) : logged(within)
      raise BootFailed, "carat ended: #{wait(within: within).inspect}; its log:\n#{log}" if @urls.empty?

      self
    ensure
      ready&.close
    end

    # Starts the server and returns the read end of the pipe on which it announces its listeners.
    def launch
      ready, announcement = IO.pipe
      streams = { in: File::NULL, %i[out err] => [@directory.log_path, "a"], READY_FD => announcement }
      @pid = Process.spawn(env, *@options.command_line(READY_FD),
                           chdir: @directory.path, **streams, **@options.spawn)
      ready
    ensure
      announcement&.close
    end

    # Runs the server until it ends, for boots that must fail; returns its Process::Status.
    def run(within: Eventually::DEADLINE_SECONDS)
      launch.close
      wait(within: within)
    end

    # The port of the nth TCP listener.
    def port(nth = 0)
      tcp(nth).port
    end

    # The host of the nth TCP listener, without brackets.
    def host(nth = 0)
      tcp(nth).hostname
    end

    # A new connection to the first listener, or to the listener with this URL.
    def connect(url = @urls.first)
      uri = URI(url)
      uri.scheme == "unix" ? RawClient.unix(uri.path) : RawClient.tcp(uri.hostname, uri.port)
    end

    # Sends one GET on a new connection and returns the response.
    def get(target = "/", fields: {})
      request("GET", target, fields: fields)
    end

    # Sends one request on a new connection and returns the response.
    def request(verb, target = "/", fields: {}, body: nil)
      client = connect
      client.request(verb, target, fields: { "Connection" => "close" }.merge(fields), body: body)
      client.read_response(head: verb == "HEAD")
    ensure
      client&.close
    end

    # The gate of a server whose application uses the files of Gate::APP.
    def gate
      Gate.new(@directory)
    end

    # The output of the server and the application so far.
    def log
      @directory.log
    end

    # The pids of all processes below the edge: molds and workers.
    def children
      ProcessTree.descendants(@pid)
    end

    # The pids of the workers by number.
    def workers
      pids = children.to_h { |pid| [ProcessTree.title(pid)[/\Acarat: worker=(\d+) gen=/, 1].to_i, pid] }
      pids.reject { |number, _| number.zero? }
    end

    # The pid of the mold, which may still be loading; nil while there is none.
    def mold
      children.find { |pid| ProcessTree.title(pid).start_with?("carat: mold gen=") }
    end

    # The pids of all processes in the server's directory, whatever their parents.
    def processes
      ProcessTree.inside(@directory.path)
    end

    # Sends a signal to the edge.
    def kill(signal)
      Process.kill(signal, @pid)
    end

    # Stops the server and returns its Process::Status.
    def stop(signal: :TERM, within: Eventually::DEADLINE_SECONDS)
      kill(signal) if running?
      wait(within: within)
    end

    # Waits until the edge has ended and returns its Process::Status.
    def wait(within: Eventually::DEADLINE_SECONDS)
      Eventually.eventually(within: within, message: "the end of the server") { !running? }
      @status
    end

    def running?
      @status ||= Process.wait2(@pid, Process::WNOHANG)&.last if @pid
      !@pid.nil? && @status.nil?
    end

    # Kills whatever still runs in the server's directory.
    def destroy
      ProcessTree.kill(processes)
      wait
    end

    private

    # The control socket is in the server's directory, not in one of the machine.
    def env
      { "XDG_RUNTIME_DIR" => @directory.path }.merge(@options.env)
    end

    def announced(ready, within)
      DeadlineReader.new(ready).read_to_end(Eventually.now + within).lines(chomp: true)
    end

    # The listeners of a command without --ready-fd, from its log.
    def logged(within)
      Eventually.eventually(within: within, message: "a listener") { log.match?(listener) || !running? }
      log.scan(listener).flatten
    end

    def listener
      /listening url=(\S+)/
    end

    def tcp(nth)
      URI(@urls.reject { |url| url.start_with?("unix:") }.fetch(nth))
    end
  end
end
