# frozen_string_literal: true

module Bench
  # The memory of the application of KubernetesWhole in one Deployment, with the jobs beside the web, and in two.
  class KubernetesSplit
    VARIABLES = KubernetesWhole::VARIABLES
    # Room for all, and a refork.
    MEMORY = "1Gi"
    # What each pod has done before its memory is read.
    PAGES = 1200
    JOBS = 300
    SETTLE_SECONDS = 15
    REFORK_SECONDS = 120
    private_constant :VARIABLES, :MEMORY, :PAGES, :JOBS, :SETTLE_SECONDS, :REFORK_SECONDS

    def initialize(app, kubectl)
      @app = app
      @kubectl = kubectl
      @client = JobsClient.new(app.port)
    end

    def run
      @app.apply(VARIABLES, MEMORY)
      @kubectl.call("scale", "deployment/app", "--replicas=1")
      weigh("one pod")
      @app.apply(VARIABLES.merge("JOBS" => "none"), MEMORY)
      @kubectl.call("scale", "deployment/app", "--replicas=1")
      @app.settled
      @app.add("jobs", %w[bundle exec bin/jobs])
      weigh("two pods")
    end

    private

    # Waits until workers share what requests have loaded; says so when they do not.
    def await_refork
      pod = @app.pod(@app.ready.first)
      @app.wait("a refork", within: REFORK_SECONDS) { KubernetesProcesses.weights(pod).to_s.match?(/worker=\d+ gen=2/) }
    rescue Support::Eventually::TooLate
      puts "  no refork within #{REFORK_SECONDS} s"
    end

    def weigh(what)
      @app.settled
      @client.enqueue(1, JOBS)
      PAGES.times { @client.get("/posts") }
      @app.wait("jobs") { @app.lines.size >= JOBS }
      await_refork
      sleep SETTLE_SECONDS
      pods = @app.all_pods.to_h { |pod| [@app.name(pod)[/\A[a-z]+/], KubernetesProcesses.weights(pod)] }
      anonymous = @app.all_pods.sum { |pod| KubernetesProcesses.anonymous(pod) }
      puts "#{what}: PSS #{pods.values.flatten(1).sum(&:last).round} MB, anonymous #{anonymous.round} MB; #{pods}"
    end
  end
end
