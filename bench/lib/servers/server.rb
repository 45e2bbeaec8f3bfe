# frozen_string_literal: true

require "socket"
require "tempfile"

module Bench
  # A running server of the table, from start to stop.
  class Server
    # On an idle machine; on a loaded one, as much longer as each core has processes that want it.
    READY_SECONDS = 30
    STOP_SECONDS = 5
    POLL_SECONDS = 0.02
    # Enough for 10 000 connections; the same on every machine, because some servers allocate by it.
    DESCRIPTOR_LIMIT = 20_000
    # What server and client need beside the connections.
    SPARE_DESCRIPTORS = 200
    LOG_TAIL_LINES = 20

    attr_reader :port

    # Starts the server, yields it once it responds with 200, and stops it; returns the block's value.
    # Raises Failure with the end of the server's log when the server does not become ready.
    def self.run(spec, app, within: ready_seconds)
      server = new(spec, app)
      server.wait_until_ready(within)
      yield server
    ensure
      server&.stop
    end

    def self.ready_seconds = READY_SECONDS * [Machine.load, 1].max

    def self.descriptors = [Process.getrlimit(:NOFILE).last, DESCRIPTOR_LIMIT].min

    # `wanted` connections, or as many as the descriptors allow.
    def self.connections(wanted) = [wanted, descriptors - SPARE_DESCRIPTORS].min

    def initialize(spec, app)
      @spec = spec
      @port = TCPServer.open("127.0.0.1", 0) { |listener| listener.addr[1] }
      @log = Tempfile.new("bench-#{spec.name}-")
      @pid = Process.spawn(spec.environment, *spec.argv(port: @port, app: app), **spawn_options)
      @tree = ProcessTree.new(@pid)
    end

    def wait_until_ready(seconds = self.class.ready_seconds)
      poll(seconds) do
        raise Failure, "#{@spec.name} ended while starting:\n#{log_tail}" if ended?

        responds? && members_by_role.fetch(@spec.worker_role, []).size >= @spec.workers
      end || raise(Failure, "#{@spec.name} was not ready after #{seconds.round} s:\n#{log_tail}")
    end

    # TERM for the root, as a process manager would; KILL for whatever is left of its group.
    def stop
      Process.kill(:TERM, @pid) unless ended?
      poll(STOP_SECONDS) { ended? } || warn("#{@spec.name}: killed, it ignored SIGTERM for #{STOP_SECONDS} s")
      Process.kill(:KILL, -@pid)
      Process.wait(@pid) unless @ended
    rescue Errno::ESRCH
      # The process group is empty: the normal case.
    ensure
      @log.close!
    end

    # ProcessTree::Members by role, in the order of the server table.
    def members_by_role
      roles = @tree.members.group_by { |member| @spec.role(member.title) }
      roles.sort_by { |role, _| @spec.roles.keys.index(role) || -1 }.to_h
    end

    def pids_by_role = members_by_role.transform_values { |members| members.map(&:pid) }

    def pids = pids_by_role.values.flatten

    def workers = pids_by_role.fetch(@spec.worker_role, [])

    # CPU seconds of the tree so far, ended children included, exact to 10 ms.
    def tree_cpu = @tree.cpu

    def log = ServerLog.parse(File.read(@log.path))

    # Waits until the block returns something, and returns that; nil after `seconds`.
    def poll(seconds)
      deadline = Bench.now + seconds
      until (value = yield)
        return nil if Bench.now > deadline

        sleep(POLL_SECONDS)
      end
      value
    end

    private

    # A process group of its own: what is left of it can be killed, and Ctrl-C reaches the benchmark alone.
    def spawn_options
      { pgroup: true, in: File::NULL, out: @log.fileno, err: %i[child out], rlimit_nofile: self.class.descriptors }
    end

    def responds?
      HttpClient.get(@port, "/").status == 200
    rescue *HttpClient::GONE
      false
    end

    def ended? = @ended ||= !Process.wait(@pid, Process::WNOHANG).nil?

    def log_tail = File.readlines(@log.path).last(LOG_TAIL_LINES).join
  end
end
