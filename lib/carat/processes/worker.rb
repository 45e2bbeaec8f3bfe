# frozen_string_literal: true

require_relative "../application_errors"
require_relative "../native"
require_relative "../parts"
require_relative "../request/lane"
require_relative "../warmup/agents"
require_relative "../warmup/fork_safety"
require_relative "boot_failure"
require_relative "heap/worker_heap"
require_relative "measures/profiler"
require_relative "promotion"
require_relative "signals"
require_relative "measures/stats_report"
require_relative "worker_exit"

module Carat
  module Processes
    # The role of a process that serves requests: the main thread listens to the edge, and each lane has a thread.
    class Worker
      # The most seconds that the hooks wait for running requests without a client. After that, the hooks have 1.5 s
      # until SIGKILL.
      CUT_OFF_SECONDS = 0.5
      private_constant :CUT_OFF_SECONDS

      # An order of the edge: the number, the generation, and two kinds of IOs: the control socket, and for each lane a
      # pair of a socket and a page.
      Order = Struct.new(:worker, :generation, :control, :lanes) do
        # Closes the IOs in the mold; the worker has copies.
        def close = [control, *lanes.flatten].each(&:close)
      end

      class << self
        # The Worker of this process, or nil in other processes.
        attr_accessor :current
      end

      # `order` is an Order, `context` an AppContext.
      def initialize(order, context)
        @order = order
        @context = context
        @app, @configuration, @template = *context
        @control = Native::Control.new(order.control)
        Parts.each { |part| part.join(@control, @configuration) }
        @log = context.log.with(worker: order.worker)
      end

      # Serves until the edge drains this worker. Returns its Promotion if it becomes the next mold, or nil if it ends.
      # Exits with status 1 when a hook raises, or when the edge sends something unexpected.
      def run
        WorkerExit.arrange(log: @log, seconds: WorkerExit::SECONDS)
        @heap = WorkerHeap.new
        Worker.current = self
        Process.setproctitle("carat: worker=#{@order.worker} gen=#{@order.generation}")
        @control.hello(:worker)
        Signals.on_term { @control.leaving }
        boot
        generation = listen
        finish
        promotion(generation) if generation
      rescue StandardError => e
        @log.failure("the worker failed", e)
        @control.boot_failed(BootFailure.new(e).to_s) if generation
        exit(1)
      end

      # Returns a Hash: the worker's number, its generation, its process id, the stats of each lane, and the stats of
      # the heap (WorkerHeap#stats).
      def stats
        { worker: @order.worker, generation: @order.generation, pid: Process.pid, lanes: @lanes.map(&:stats),
          **@heap.stats }
      end

      private

      def boot
        %i[after_fork on_worker_boot].each { |hook| @configuration.hooks.run(hook, @order.worker) }
        Warmup::Agents.start(log: @log)
        @heap.manage(@configuration) { served }
        @lanes = @order.lanes.map { |ios| lane(native_lane(ios)) }
        @threads = @lanes.map.with_index { |lane, number| start(lane, number) }
        @control.ready
      rescue Exception => e # rubocop:disable Lint/RescueException -- the edge receives whatever it is
        @control.boot_failed(BootFailure.new(e).to_s)
        exit(1)
      end

      def native_lane(ios)
        Native::Lane.new(*ios, @template.to_h).tap { |native| @heap.watch(native) }
      end

      def lane(native)
        options = { spool_dir: @configuration[:spool_dir], early_hints: @configuration[:early_hints],
                    tunnels: @configuration[:max_tunnels] != 0, shows_errors: @configuration.development?,
                    log: @log }
        kind, more = Parts.filter_map { |part| part.lane(@configuration) }.first || [Request::Lane, {}]
        kind.new(@app, native, **options, **more) { @control.leaving }
      end

      def start(lane, number)
        Thread.new do
          Thread.current.name = "carat lane #{number}"
          serve(lane)
        end
      end

      def serve(lane)
        lane.run
      rescue StandardError => e
        @log.failure("a lane failed", e)
        @control.leaving
      end

      # Handles messages of the edge until the worker is drained, or has to end in any case. Returns the generation
      # whose mold the worker becomes, or nil.
      def listen
        while (message, *details = @control.receive)
          case message
          when :drain then return
          when :bye then return give_up
          when :promote then return details.first
          when :ask_fork_safety then report_fork_safety
          when :trim_memory then @heap.return_memory
          when :collect then @control.collected(@heap.collect { note_quiet })
          when :decline_collection then @heap.decline_collection
          when :begin_profile then profiler.begin(*details)
          when :end_profile then profiler.finish
          when :ask_stats then @control.stats(StatsReport.new(stats).to_json)
          when :ask_stack then @control.stack(*details, stack_of(*details))
          end
        end
        exit!(1) # The edge is gone, and with it all clients.
      end

      def served = @lanes.to_a.sum { |lane| lane.stats.fetch(:served) }

      def note_quiet
        @configuration.hooks.run(:on_quiet_worker, @order.worker)
      rescue *APPLICATION_ERRORS => e
        @log.failure("on_quiet_worker failed", e)
      end

      # Tells the edge whether this worker could become the mold. Threads count only if no hook is declared that may end
      # them; otherwise only a promotion shows which threads remain.
      def report_fork_safety
        is_open = %i[on_worker_shutdown before_refork].any? { |hook| @configuration.hooks.any?(hook) }
        obstacle = is_open ? Warmup::ForkSafety.objection : Warmup::ForkSafety.obstacle(own: @threads)
        obstacle ? @control.not_fork_safe(obstacle) : @control.fork_safe
      end

      def profiler = @profiler ||= Profiler.new(@control) { served }

      def stack_of(lane, request_id)
        @lanes[lane]&.stack(request_id) || "nothing: it has ended"
      end

      # Limits how long the worker waits for requests that still run: they have no client any more, and may never end.
      def give_up
        @deadline = now + CUT_OFF_SECONDS
        nil
      end

      def finish
        @lanes.each(&:drain)
        @threads.each { |thread| thread.join(@deadline && [@deadline - now, 0].max) }
        profiler.finish(replaced: true) unless @deadline
        @configuration.hooks.run(:on_worker_shutdown, @order.worker)
      end

      # Drops the objects that only a worker needs, so that the garbage collector frees them.
      def promotion(generation)
        @heap.leave
        Worker.current = @lanes = @threads = @profiler = @heap = nil
        Promotion.new(@control, @context, generation)
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
