# frozen_string_literal: true

module Bench
  # What happens to pods while clients of the ledger go on, for docs/deploy.md. Each trial prints a line.
  class KubernetesRollouts
    STREAMS = 3
    # How long a rollout that does not end is watched.
    BROKEN_SECONDS = 60
    # As many as the threads of a pod, and more, so that requests wait.
    HANGING = 12
    TROUBLE_SECONDS = 180
    private_constant :STREAMS, :BROKEN_SECONDS, :HANGING, :TROUBLE_SECONDS

    # @param app [KubernetesApp] applied
    # @param kubectl [Kubectl]
    def initialize(app, kubectl)
      @app = app
      @kubectl = kubectl
      @clients = LedgerClients.new(uploads: 2)
    end

    # A rolling update of all pods.
    def update
      report("rolling update") do
        @app.set("RELEASE" => Process.clock_gettime(Process::CLOCK_REALTIME, :second).to_s)
        @app.settled
      end
    end

    # Rollouts of code that does not load, and of code that is not ready; then the way back.
    def unready
      %w[boot up].each do |how|
        report("rollout with BROKEN=#{how}, for #{BROKEN_SECONDS} s, and undone") do
          before = @app.ready
          @app.set("BROKEN" => how)
          sleep BROKEN_SECONDS
          puts "  old pods ready: #{(before & @app.ready).size} of #{before.size}; all pods: #{@app.pods.size}"
          @kubectl.call("rollout", "undo", "deployment/app")
          @app.settled
        end
      end
    end

    # Draining the only node, which takes pods again once it has lost one: each pod ends, and another follows.
    def drain
      report("kubectl drain") do
        before = @app.ready
        drained = Thread.new { @kubectl.call("drain", "node", "--ignore-daemonsets", "--delete-emptydir-data") }
        until drained.join(1)
          @kubectl.call("uncordon", "node")
        end
        @kubectl.call("uncordon", "node")
        @app.settled
        puts "  pods of before: #{(before & @app.ready).size}"
      end
    end

    # A worker that exceeds the memory of its pod.
    def kill
      report("a request that exceeds the memory of its pod, three times") do
        3.times { puts "  its client got #{@clients.get("eat", @app.url)}" }
        @app.settled
      end
    end

    # SIGKILL of the first process of each pod's container, beside clients that repeat requests without a connection or
    # do not.
    def crash
      [false, true].each do |repeats|
        @clients = LedgerClients.new(uploads: 2, name: "crash-#{repeats}", repeats:)
        report("SIGKILL of a container's first process, three times; clients repeat: #{repeats}") do
          @app.ready.each { |pod| crash_once(pod) }
        end
      end
    end

    # An application all of whose threads hang in one pod, and an edge that is stopped.
    def stuck
      trouble("requests that hang in each thread of a pod") do |pod|
        Array.new(HANGING) { Thread.new { @clients.get("hang", @app.address(pod)) } }
      end
      trouble("an edge that is stopped (SIGSTOP)") { |pod| KubernetesProcesses.signal(:STOP, pod) }
    end

    private

    # Runs the block beside clients, and prints what became of them.
    def report(what, &)
      begun = Bench.now
      streams = LedgerStreams.new(@app.port, STREAMS)
      sentence = @clients.account(@app.url, @app.ledger, &)
      puts "#{what}: #{sentence}; #{streams.finish}; restarts #{@app.restarts}; #{(Bench.now - begun).round} s"
    end

    def crash_once(pod)
      before = @app.restarts
      begun = Bench.now
      KubernetesProcesses.signal(:KILL, @app.pod(pod))
      @app.wait("a container that starts again") { @app.restarts > before }
      puts "  started again after #{(Bench.now - begun).round(1)} s"
      @app.settled
    end

    # Does something to a pod, and tells when it left the Service and when it returned.
    def trouble(what)
      report(what) do
        pod = @app.ready.first
        begun = Bench.now
        yield @app.pod(pod)
        @app.wait("a pod that is not ready") { !@app.ready.include?(pod) }
        left = Bench.now - begun
        puts "  not ready after #{left.round} s, #{back(pod, begun)}"
      end
    end

    # Whether the pod returns by itself.
    def back(pod, begun)
      @app.wait("the pod", within: TROUBLE_SECONDS) { @app.ready.include?(pod) }
      "ready again after #{(Bench.now - begun).round} s"
    rescue Support::Eventually::TooLate
      @kubectl.call("delete", "pod", pod, "--now")
      @app.settled
      "not again within #{TROUBLE_SECONDS} s"
    end
  end
end
