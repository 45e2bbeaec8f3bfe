# frozen_string_literal: true

require "tempfile"
require_relative "failure"
require_relative "http_client"
require_relative "process_tree"
require_relative "server_event"

module Bench
  # A running server of the table, from start to stop.
  class Server
    READY_SECONDS = 30
    STOP_SECONDS = 5
    POLL_SECONDS = 0.02
    # Enough for 10 000 connections; the same on every machine, because some servers allocate by it.
    DESCRIPTOR_LIMIT = 20_000
    # Descriptors that server and client need beside the connections.
    SPARE_DESCRIPTORS = 200
    LOG_TAIL_LINES = 20

    attr_reader :port, :tree

    # Starts the server, yields it once it answers 200, and stops it; gives the block's value.
    # Raises Failure with the end of the server's log when it does not get ready.
    def self.run(peer, app)
      server = new(peer, app)
      server.wait_until_ready
      yield server
    ensure
      server&.stop
    end

    def self.descriptors
      [Process.getrlimit(:NOFILE).last, DESCRIPTOR_LIMIT].min
    end

    # So many connections, or as many as the descriptors allow.
    def self.connections(wanted)
      [wanted, descriptors - SPARE_DESCRIPTORS].min
    end

    def initialize(peer, app)
      @peer = peer
      @port = TCPServer.open("127.0.0.1", 0) { |listener| listener.addr[1] }
      @log = Tempfile.new("bench-#{peer.name}-")
      @pid = Process.spawn(peer.environment, *peer.argv(port: @port, app: app), **spawn_options)
      @tree = ProcessTree.new(@pid)
    end

    def wait_until_ready
      poll(READY_SECONDS) do
        raise Failure, "#{@peer.name} ended while starting:\n#{log_tail}" if ended?

        answers? && members_by_role.fetch(@peer.worker_role, []).size >= @peer.workers
      end || raise(Failure, "#{@peer.name} was not ready after #{READY_SECONDS} s:\n#{log_tail}")
    end

    # TERM for the root, as a process manager would; KILL for whoever is left of its group.
    def stop
      Process.kill(:TERM, @pid) unless ended?
      poll(STOP_SECONDS) { ended? } || warn("#{@peer.name}: killed, it ignored SIGTERM for #{STOP_SECONDS} s")
      Process.kill(:KILL, -@pid)
      Process.wait(@pid) unless @ended
    rescue Errno::ESRCH
      # Nobody is left in the process group: the normal case.
    ensure
      @log.close!
    end

    # ProcessTree::Member lists by role, in the order of the server table.
    def members_by_role
      roles = @tree.members.group_by { |member| @peer.role(member.title) }
      roles.sort_by { |role, _| @peer.roles.keys.index(role) || -1 }.to_h
    end

    # Process ids by role.
    def pids_by_role
      members_by_role.transform_values { |members| members.map(&:pid) }
    end

    # The ServerEvents of its log so far.
    def events
      ServerEvent.parse(File.read(@log.path))
    end

    # Waits until the block gives something, and gives it; nil after so many seconds.
    def poll(seconds)
      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
      until (value = yield)
        return nil if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

        sleep(POLL_SECONDS)
      end
      value
    end

    private

    # A process group of its own: what is left of it at the end can be killed, and Ctrl-C is ours alone.
    def spawn_options
      { pgroup: true, in: File::NULL, out: @log.fileno, err: %i[child out], rlimit_nofile: self.class.descriptors }
    end

    def answers?
      HttpClient.get(@port, "/").status == 200
    rescue *HttpClient::GONE
      false
    end

    def ended?
      @ended ||= !Process.wait(@pid, Process::WNOHANG).nil?
    end

    def log_tail
      File.readlines(@log.path).last(LOG_TAIL_LINES).join
    end
  end
end
