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
    PHASES = [[12, 240], [24, 300], [12, 480]].freeze
    # Of a page: requests are in the pods nearly as many as there are clients.
    PAGE_SECONDS = "0.5"
    STEP_SECONDS = 5
    private_constant :AUTOSCALER, :PROMETHEUS, :PHASES, :PAGE_SECONDS, :STEP_SECONDS

    # Prometheus' configuration: it finds the pods itself.
    def self.scrapes
      source = lambda do |name, target|
        { "source_labels" => ["__meta_kubernetes_#{name}"], "target_label" => target }
      end
      { "global" => { "scrape_interval" => "5s" },
        "scrape_configs" => [
          { "job_name" => "app",
            "kubernetes_sd_configs" => [{ "role" => "pod", "api_server" => KubernetesFiles::SERVER,
                                          "tls_config" => { "insecure_skip_verify" => true },
                                          "authorization" => { "credentials" => KubernetesFiles::TOKEN } }],
            "relabel_configs" => [
              { "source_labels" => ["__meta_kubernetes_pod_container_port_name"], "regex" => "metrics",
                "action" => "keep" },
              source.call("namespace", "namespace"), source.call("pod_name", "pod")
            ] }
        ] }
    end

    def initialize(app, kubectl, directory)
      @app = app
      @kubectl = kubectl
      @directory = directory
    end

    def run
      @app.apply("PAGE_SECONDS" => PAGE_SECONDS)
      prometheus = start_prometheus
      @metrics = CustomMetrics.new(PROMETHEUS) { @app.ready }
      @metrics.serve
      @kubectl.apply(CustomMetrics.objects)
      @app.wait("the metric") { @metrics.samples.size == KubernetesApp::REPLICAS }
      @app.wait("the API") { @kubectl.succeed?("get", "--raw", "/apis/#{CustomMetrics::VERSION}") }
      @kubectl.apply([YAML.safe_load(File.read(AUTOSCALER))])
      PHASES.each { |clients, seconds| phase(clients, seconds) }
    ensure
      Process.kill(:TERM, prometheus) if prometheus
    end

    private

    def start_prometheus
      file = File.join(@directory, "prometheus.yml")
      File.write(file, JSON.generate(self.class.scrapes))
      spawn("/usr/bin/prometheus", "--config.file=#{file}", "--storage.tsdb.path=/run/prometheus",
            "--web.listen-address=127.0.0.1:9090", %i[out err] => [File.join(@directory, "log/prometheus.log"), "w"])
    end

    # Prints each change of the number of pods, and what became of the requests.
    def phase(clients, seconds)
      begun = Bench.now
      sentence = LedgerClients.new(clients: clients).account(KubernetesApp::URL, @app.ledger) do
        shown = nil
        until Bench.now - begun > seconds
          pods = "#{@app.ready.size} of #{@app.replicas}"
          puts "  #{(Bench.now - begun).round} s: #{pods} pods ready, #{requests} requests in them" unless pods == shown
          shown = pods
          sleep STEP_SECONDS
        end
      end
      puts "#{clients} clients for #{seconds} s: #{sentence}"
    end

    def requests = @metrics.samples.sum { |sample| sample.dig("value", 1).to_f }.round(1)
  end
end
