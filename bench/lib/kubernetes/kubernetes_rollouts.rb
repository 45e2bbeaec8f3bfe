# frozen_string_literal: true

module Bench
  # What happens to pods while clients of the ledger go on, for docs/deploy.md. Each trial prints a line.
  class KubernetesRollouts
    STREAMS = 3
    # How long a rollout that does not end is watched.
    BROKEN_SECONDS = 60
    DELAYS = %w[off 1s 2s 5s 20s].freeze
    # As many as the threads of a pod, and more, so that requests wait.
    HANGING = 12
    TROUBLE_SECONDS = 180
    private_constant :STREAMS, :BROKEN_SECONDS, :DELAYS, :HANGING, :TROUBLE_SECONDS

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

    # A worker that exceeds the memory of its pod, and SIGKILL of a container's first process.
    def kill
      report("a request that exceeds the memory of its pod, three times") do
        3.times { puts "  its client got #{@clients.get("eat", KubernetesApp::URL)}" }
        @app.settled
      end
      report("SIGKILL of a container's first process, three times") do
        @app.ready.each do |pod|
          KubernetesProcesses.signal(:KILL, @app.pod(pod))
          sleep 1
          @app.settled
        end
      end
    end

    # An application all of whose threads hang in one pod, and an edge that is stopped.
    def stuck
      trouble("requests that hang in each thread of a pod") do |pod|
        address = "http://#{pod.dig("status", "podIP")}:3000"
        Array.new(HANGING) { Thread.new { @clients.get("hang", address) } }
      end
      trouble("an edge that is stopped (SIGSTOP)") { |pod| KubernetesProcesses.signal(:STOP, pod) }
    end

    # The end of each pod with several values of drain_delay.
    def delay
      DELAYS.each do |delay|
        @app.set("CARAT_DRAIN_DELAY" => delay)
        @app.settled
        report("drain_delay #{delay}: each pod deleted") do
          @app.ready.each do |pod|
            @kubectl.call("delete", "pod", pod)
            @app.settled
          end
        end
      end
    end

    private

    # Runs the block beside clients, and prints what became of them.
    def report(what, &)
      begun = Bench.now
      streams = LedgerStreams.new(KubernetesApp::PORT, STREAMS)
      sentence = @clients.account(KubernetesApp::URL, @app.ledger, &)
      puts "#{what}: #{sentence}; #{streams.finish}; restarts #{@app.restarts}; #{(Bench.now - begun).round} s"
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
