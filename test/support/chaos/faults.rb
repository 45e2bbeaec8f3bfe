# frozen_string_literal: true

module Support
  module Chaos
    # What happens to the processes of a server while clients send requests. Most faults last for a number of requests,
    # not for a time.
    class Faults
      include Eventually

      # How often each happens, unless a test says otherwise.
      NUMBERS = { kill_worker: 10, kill_mold: 2, stop_worker: 3, stop_mold: 1, stop_all_workers: 1, lose_worker: 1,
                  stop_edge: 2, stop_everybody: 1, mute_log: 2, hoard: 4, crowd: 3, hup: 3, fifo: 2, upgrade: 1,
                  slow_disk: 2 }.freeze
      # More connections than the server has descriptors for.
      CROWD = 300
      # Requests between two faults.
      CALM = (1..25)
      PAUSE_SECONDS = 0.3
      # 20 ms for each write.
      SLOW_WRITES = %w[strace -qq -o /dev/null -e trace=write -e inject=write:delay_enter=20000].freeze

      # @param load [Load] whose requests are counted
      # @param client [Client] for requests that do harm
      # @param log [LogPipe] that takes the server's log
      def initialize(server, load:, random:, client: nil, log: nil)
        @server = server
        @load = load
        @client = client
        @log = log
        @random = random
      end

      # Lets each fault happen as often as the Hash says, in a random order, with some requests in between.
      def run(numbers, calm: CALM)
        numbers.flat_map { |fault, number| [fault] * number }.shuffle(random: @random).each do |fault|
          await_requests(@random.rand(calm))
          send(fault)
        end
      end

      private

      def kill_worker
        signal(:KILL, *worker)
      end

      # A mold that is killed whenever it boots would never fork, and one has no name before it forks. Without a name, a
      # worker is killed instead.
      def kill_mold
        signal(:KILL, *(@server.mold || worker))
      end

      def stop_worker
        stopped(*worker) { await_requests(20) }
      end

      def stop_mold
        stopped(*@server.mold) { await_requests(40) }
      end

      # The queue fills, and requests in it get 503.
      def stop_all_workers
        stopped(*@server.workers.values) { await_requests(4) }
      end

      # It never continues, and is replaced when a request has taken too long.
      def lose_worker
        pid = worker
        signal(:STOP, *pid)
        eventually(message: "the end of a worker that stands still") { pid.nil? || !ProcessTree.alive?(pid) }
      end

      def stop_edge
        stopped(@server.pid) { pause }
      end

      def stop_everybody
        stopped(@server.pid, *@server.children) { pause }
      end

      def mute_log
        @log.mute { await_requests(60) }
      end

      # Connections that send nothing take all descriptors. Those that the server cannot accept wait in the kernel.
      def crowd
        clients = Array.new(CROWD) { @server.connect }
        pause
      ensure
        clients&.each(&:close)
      end

      def hup
        signal(:HUP, @server.pid)
      end

      # In the place of the page for maintenance, which it can be for as long as it is there.
      def fifo
        ends = @server.log.scan("maintenance ends").size
        File.mkfifo(path = File.join(@server.directory.path, "maintenance"))
        eventually(message: "maintenance") { @server.log.scan("maintenance begins").size > ends }
        File.delete(path)
        eventually(message: "the end of maintenance") { @server.log.scan("maintenance ends").size > ends }
      end

      # A new edge that gives up, because no worker is ready so soon.
      def upgrade
        config = @server.directory.read(ServerOptions::CONFIG)
        refusals = @server.log.scan("not upgraded").size
        @server.directory.replace(ServerOptions::CONFIG, "#{config}boot_timeout 0.001\n")
        signal(:USR2, @server.pid)
        eventually(message: "a refused upgrade") { @server.log.scan("not upgraded").size > refusals }
      ensure
        @server.directory.replace(ServerOptions::CONFIG, config)
      end

      # For all threads of the edge but that of the connections, on a machine with strace.
      def slow_disk
        threads = Dir.children("/proc/#{@server.pid}/task") - [@server.pid.to_s]
        strace = Process.spawn(*SLOW_WRITES, *threads.flat_map { |thread| ["-p", thread] }, err: File::NULL)
        await_requests(20)
        signal(:TERM, strace)
        Process.wait(strace)
      rescue Errno::ENOENT
        nil
      end

      # The worker keeps 20 MB, and is replaced when that has happened to it too often.
      def hoard
        @client.post(:hoard)
      end

      # The worker takes memory until it gets no more.
      def eat
        @client.post(:eat)
      end

      def worker
        @server.workers.values.sample(random: @random)
      end

      def stopped(*pids)
        signal(:STOP, *pids)
        yield
      ensure
        signal(:CONT, *pids)
      end

      def signal(name, *pids)
        pids.each do |pid|
          Process.kill(name, pid)
        rescue Errno::ESRCH
          next # It has ended already.
        end
      end

      def await_requests(number)
        goal = @load.size + number
        eventually(message: "#{number} further requests") { @load.size >= goal }
      end

      def pause
        wake_at = Eventually.now + PAUSE_SECONDS
        eventually { Eventually.now > wake_at }
      end
    end
  end
end
