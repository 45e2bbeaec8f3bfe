# frozen_string_literal: true

require "fileutils"
require "json"
require "yaml"

module Bench
  # deploy/autoscaling/hpa.yaml on a node, with Debian's Prometheus and CustomMetrics: the load is doubled, and halved.
  class KubernetesScale
    AUTOSCALER = File.expand_path("../../../deploy/autoscaling/hpa.yaml", __dir__)
    PROMETHEUS = "http://127.0.0.1:9090"
    # Clients, each with a request always, and for how many seconds.
    PHASES = [[12, 120], [24, 240], [12, 540]].freeze
    # Of a page: requests are in the pods nearly as many as there are clients.
    PAGE_SECONDS = "0.5"
    STEP_SECONDS = 5
    private_constant :AUTOSCALER, :PROMETHEUS, :PHASES, :PAGE_SECONDS, :STEP_SECONDS

    # Prometheus' configuration: Debian's knows no Kubernetes, so a file has the pods.
    def self.scrapes(file)
      { "global" => { "scrape_interval" => "15s" },
        "scrape_configs" => [{ "job_name" => "app",
                               "file_sd_configs" => [{ "files" => [file], "refresh_interval" => "2s" }] }] }
    end

    # What that file has: the port of metrics of each pod, with the labels of the adapter.
    def self.targets(pods)
      pods.select { |pod| pod.dig("status", "podIP") }.map do |pod|
        ports = pod.dig("spec", "containers", 0, "ports").to_h { |port| port.values_at("name", "containerPort") }
        { "targets" => ["#{pod.dig("status", "podIP")}:#{ports.fetch("metrics")}"],
          "labels" => { "namespace" => CustomMetrics::NAMESPACE, "pod" => pod.dig("metadata", "name") } }
      end
    end

    def initialize(app, kubectl, directory)
      @app = app
      @kubectl = kubectl
      @directory = directory
    end

    def run
      @app.apply("PAGE_SECONDS" => PAGE_SECONDS)
      prometheus = start_prometheus
      serve_metrics
      @kubectl.apply([YAML.safe_load(File.read(AUTOSCALER))])
      PHASES.each_with_index { |(clients, seconds), index| phase(index, clients, seconds) }
    ensure
      Process.kill(:TERM, prometheus) if prometheus
      @kubectl.succeed?("delete", "horizontalpodautoscaler/app", "apiservice/#{CustomMetrics.service}")
    end

    private

    def serve_metrics
      @metrics = CustomMetrics.new(PROMETHEUS) { @app.ready }
      @metrics.serve
      @kubectl.apply(CustomMetrics.objects)
      @app.wait("the metric") { @metrics.samples.size == KubernetesApp::REPLICAS }
      @app.wait("the API") { @kubectl.succeed?("get", "--raw", "/apis/#{CustomMetrics::VERSION}") }
    end

    def start_prometheus
      file = File.join(@directory, "prometheus.yml")
      File.write(file, JSON.generate(self.class.scrapes(write_targets)))
      Thread.new { loop { renew_targets && sleep(STEP_SECONDS) } }
      spawn("/usr/bin/prometheus", "--config.file=#{file}", "--storage.tsdb.path=/run/prometheus",
            "--web.listen-address=127.0.0.1:9090", %i[out err] => [File.join(@directory, "log/prometheus.log"), "w"])
    end

    # A busy machine may refuse to tell the pods once.
    def renew_targets
      write_targets
    rescue Failure => e
      warn e.message
      true
    end

    # Returns the path of the file with the pods.
    def write_targets
      File.join(@directory, "targets.json").tap do |file|
        File.write("#{file}.new", JSON.generate(self.class.targets(@app.pods)))
        File.rename("#{file}.new", file)
      end
    end

    # Prints what became of the requests.
    def phase(index, clients, seconds)
      name = "phase-#{index}"
      sentence = LedgerClients.new(clients:, name:).account(@app.url, @app.ledger) { watch(seconds) }
      puts "#{clients} clients for #{seconds} s: #{sentence}"
    end

    # Prints each change of the number of pods.
    def watch(seconds)
      begun = Bench.now
      shown = nil
      until Bench.now - begun > seconds
        pods = "#{@app.ready.size} of #{@app.replicas}"
        puts "  #{(Bench.now - begun).round} s: #{pods} pods ready, busy shares #{shares}" unless pods == shown
        shown = pods
        sleep STEP_SECONDS
      end
    end

    # The sum of the metric over the pods.
    def shares = @metrics.samples.sum { |sample| sample.dig("value", 1).to_f }.round(1)
  end
end
