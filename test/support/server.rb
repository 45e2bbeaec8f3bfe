# frozen_string_literal: true

require "uri"
require_relative "eventually"
require_relative "gate"
require_relative "process_tree"
require_relative "raw_client"
require_relative "server_directory"
require_relative "server_options"

module Support
  # A real Carat in a directory of its own, on a port that the kernel chooses.
  #
  #   server = Support::Server.new(app: 'run ->(_env) { [200, {}, ["hello"]] }', workers: 2).start
  #   server.get("/").body # => "hello"
  #   server.stop
  class Server
    READY_FD = 9

    # The server ended instead of becoming ready; the message carries its log.
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

    # @return [ServerDirectory]
    attr_reader :directory
    # @return [Array<String>] where the server listens, in the order of its binds
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

    # Starts the server and returns the reading end of the pipe on which it announces its listeners.
    def launch
      ready, announcement = IO.pipe
      streams = { in: File::NULL, %i[out err] => [@directory.log_path, "a"], READY_FD => announcement }
      @pid = Process.spawn(@options.env, *@options.command_line(READY_FD),
                           chdir: @directory.path, **streams, **@options.spawn)
      ready
    ensure
      announcement&.close
    end

    # Runs the server to its end, for boots that are meant to fail; returns its Process::Status.
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

    # A new connection to the first listener, or to any given by its URL.
    def connect(url = @urls.first)
      uri = URI(url)
      uri.scheme == "unix" ? RawClient.unix(uri.path) : RawClient.tcp(uri.hostname, uri.port)
    end

    # One GET on a connection of its own.
    def get(target = "/", fields: {})
      request("GET", target, fields: fields)
    end

    # One request on a connection of its own; returns the response.
    def request(verb, target = "/", fields: {}, body: nil)
      client = connect
      client.request(verb, target, fields: { "Connection" => "close" }.merge(fields), body: body)
      client.read_response(head: verb == "HEAD")
    ensure
      client&.close
    end

    # The gate of a server that runs Gate::APP or one like it.
    def gate
      Gate.new(@directory)
    end

    # What the server and the application have written so far, standard output included.
    def log
      @directory.log
    end

    # Pids of all processes below the edge: molds and workers.
    def children
      ProcessTree.descendants(@pid)
    end

    # Pids of the workers by their numbers.
    def workers
      pids = children.to_h { |pid| [ProcessTree.title(pid)[/\Acarat: worker=(\d+) gen=/, 1].to_i, pid] }
      pids.reject { |number, _| number.zero? }
    end

    # The pid of the mold; nil while there is none that is ready.
    def mold
      children.find { |pid| ProcessTree.title(pid).start_with?("carat: mold gen=") }
    end

    # Pids of all processes in the server's directory, whoever their parent is.
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

    # Waits until the edge has ended, and returns its Process::Status.
    def wait(within: Eventually::DEADLINE_SECONDS)
      Eventually.eventually(within: within, message: "the end of the server") { !running? }
      @status
    end

    def running?
      @status ||= Process.wait2(@pid, Process::WNOHANG)&.last if @pid
      !@pid.nil? && @status.nil?
    end

    # Ends by force whatever still runs in the server's directory.
    def destroy
      ProcessTree.kill(processes)
      wait
    end

    private

    def announced(ready, within)
      DeadlineReader.new(ready).read_to_end(Eventually.now + within).lines(chomp: true)
    end

    # The listeners of a server that cannot be told where to announce them.
    def logged(within)
      Eventually.eventually(within: within, message: "a listener") { log.include?("listening url=") || !running? }
      log.scan(/listening url=(\S+)/).flatten
    end

    def tcp(nth)
      URI(@urls.reject { |url| url.start_with?("unix:") }.fetch(nth))
    end
  end
end
