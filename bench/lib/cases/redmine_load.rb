# frozen_string_literal: true

module Bench
  # Redmine as its users use it: pages and forms, a large attachment, then many requests at once.
  module RedmineLoad
    REQUESTS = 2000
    QUICK_REQUESTS = 100
    ATTACHMENT_BYTES = 200 << 20
    QUICK_BYTES = 10 << 20
    # For each worker: twice as many as have room with five threads.
    CONNECTIONS = 10

    def self.call(spec, options)
      file = TestFile.random(options.quick ? QUICK_BYTES : ATTACHMENT_BYTES)
      requests = options.quick ? QUICK_REQUESTS : REQUESTS
      run(spec) do |server, client|
        steps = client.call(:set_up) + client.call(:attach, file: file.path, sha256: file.sha256)
        before = server.tree_cpu
        load = client.call(:load, requests: requests, connections: CONNECTIONS * spec.workers)
        cpu = server.tree_cpu - before
        { **load, failed: load.fetch(:failed) + report(spec, steps), cpu_ms: cpu * 1000 / requests,
                  worker_cpu: BesidePuma.cpu(server),
                  **BesidePuma.memory(server, spec.workers, settle: options.settle) }
      end
    end

    # Runs a fresh Redmine on the server, and a client program beside it.
    def self.run(spec, &)
      ClientProcess.beside(spec.with_env(Redmine.environment), Redmine.fresh, "RedmineClient", &)
    end

    def self.report(spec, steps)
      warn("#{spec.name}: failed: #{steps.join(", ")}") if steps.any?
      steps.size
    end

    private_class_method :report

    CASES = [
      Case.new(
        name: "redmine", title: "Redmine: log in, project, issues, 200 MB up and down, feed, 2000 mixed requests",
        servers: BesidePuma::SERVERS, measure: method(:call), needs: Redmine.method(:obstacle),
        columns: BesidePuma::COLUMNS, further: BesidePuma.method(:further)
      )
    ].freeze
  end
end
