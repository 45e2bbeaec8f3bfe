# frozen_string_literal: true

require "json"

module Bench
  # A running pod gets other resources (`--subresource resize`) under load, and Carat follows.
  class KubernetesResize
    # Workers keep memory of their own: after a refork they would share it.
    VARIABLES = { "WEB_CONCURRENCY" => "1..4", "RAILS_MAX_THREADS" => "1", "CARAT_REFORK" => "off",
                  "CARAT_WORKER_IDLE_TIMEOUT" => "10s", "KEEP" => FollowedLimit::KEPT.to_s }.freeze
    PROCESSORS = %w[1 2 1].freeze
    SETTLE_SECONDS = 20
    private_constant :VARIABLES, :PROCESSORS, :SETTLE_SECONDS

    def initialize(app, kubectl)
      @app = app
      @kubectl = kubectl
      @clients = LedgerClients.new
    end

    def run
      memory
      processors
    end

    private

    # More and less memory, with a range of workers.
    def memory
      one(VARIABLES) do |pod|
        followed = FollowedLimit.new { |command| @app.carat(pod, command) }
        FollowedLimit::LIMITS.each do |limit|
          seconds = resize(pod, "memory", "#{limit}Mi", "requests", "limits")
          puts "  memory limit #{limit} MiB after #{seconds} s: #{followed.report(limit)}"
          compiler(pod)
        end
      end
    end

    # What processes may use for machine code before and after a restart within the pod.
    def compiler(pod)
      before = KubernetesProcesses.code(@app.pod(pod))
      @app.shell(pod, "bundle exec carat restart")
      puts "  MiB for machine code: #{before}; after carat restart: #{KubernetesProcesses.code(@app.pod(pod))}"
    end

    # More and fewer processors, with as many workers as suit them.
    def processors
      one("WEB_CONCURRENCY" => "auto", "RAILS_MAX_THREADS" => "1", "CARAT_WORKER_IDLE_TIMEOUT" => "10s") do |pod|
        PROCESSORS.each do |count|
          seconds = resize(pod, "cpu", count, "limits")
          sleep SETTLE_SECONDS
          puts "  #{count} processors after #{seconds} s: workers #{@app.carat(pod, "status")["processes"].size}"
        end
      end
    end

    # Yields the only pod, under load.
    def one(variables)
      @app.apply(variables)
      @kubectl.call("scale", "deployment/app", "--replicas=1")
      @app.settled
      sentence = @clients.account(@app.url, @app.ledger) { yield @app.ready.first }
      puts "resize: #{sentence}; restarts #{@app.restarts}"
    end

    # Returns how many seconds it took until the container has it.
    def resize(pod, resource, amount, *kinds)
      begun = Bench.now
      resources = kinds.to_h { |kind| [kind, { resource => amount }] }
      patch = { "spec" => { "containers" => [{ "name" => "app", "resources" => resources }] } }
      @kubectl.call("patch", "pod", pod, "--subresource", "resize", "--patch", JSON.generate(patch))
      @app.wait("the new #{resource}") { limit(pod, resource) == amount }
      (Bench.now - begun).round(1)
    end

    # What the container has.
    def limit(pod, resource)
      text = @app.pod(pod).dig("status", "containerStatuses", 0, "resources", "limits", resource)
      text == "1Gi" ? "1024Mi" : text
    end
  end
end
