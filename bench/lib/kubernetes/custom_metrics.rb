# frozen_string_literal: true

require "json"
require "net/http"
require "openssl"
require "socket"
require "time"
require "yaml"

module Bench
  # The API of custom metrics in a few lines, in place of the Prometheus adapter: it knows the metric of
  # deploy/autoscaling/prometheus-adapter.yaml, for pods, and asks a Prometheus for it by the query of that file.
  class CustomMetrics
    VERSION = "custom.metrics.k8s.io/v1beta2"
    NAMESPACE = "default"
    RULES = File.expand_path("../../../deploy/autoscaling/prometheus-adapter.yaml", __dir__)
    PORT = 6444
    private_constant :RULES

    # The metric's name and its query, as the file has them.
    def self.rule
      rule = YAML.safe_load(File.read(RULES)).dig("rules", "custom", 0)
      [rule.dig("name", "as") || rule["seriesQuery"][/\A\w+/], rule["metricsQuery"]]
    end

    # The query for these pods, as the adapter fills it in.
    def self.query(template, pods)
      matchers = "namespace=\"#{NAMESPACE}\",pod=~\"#{pods.join("|")}\""
      template.gsub("<<.LabelMatchers>>", matchers).gsub("<<.GroupBy>>", "pod")
    end

    # What an autoscaler gets. result: of Prometheus' answer
    def self.values(name, result, now)
      items = result.map do |sample|
        { "describedObject" => { "kind" => "Pod", "apiVersion" => "/v1", "namespace" => NAMESPACE,
                                 "name" => sample.dig("metric", "pod") },
          "metric" => { "name" => name }, "timestamp" => now.utc.iso8601,
          "value" => "#{(sample.dig("value", 1).to_f * 1000).round}m" }
      end
      { "kind" => "MetricValueList", "apiVersion" => VERSION, "metadata" => {}, "items" => items }
    end

    # The name of the API's object.
    def self.service = VERSION.split("/").reverse.join(".")

    # What the API has.
    def self.resources(name)
      { "kind" => "APIResourceList", "apiVersion" => "v1", "groupVersion" => VERSION,
        "resources" => [{ "name" => "pods/#{name}", "singularName" => "", "namespaced" => true,
                          "kind" => "MetricValueList", "verbs" => ["get"] }] }
    end

    # What makes it a part of the Kubernetes API.
    def self.objects
      group, version = VERSION.split("/")
      [{ "apiVersion" => "v1", "kind" => "Service", "metadata" => { "name" => "custom-metrics" },
         "spec" => { "ports" => [{ "port" => 443, "targetPort" => PORT }] } },
       { "apiVersion" => "discovery.k8s.io/v1", "kind" => "EndpointSlice", "addressType" => "IPv4",
         "metadata" => { "name" => "custom-metrics-1",
                         "labels" => { "kubernetes.io/service-name" => "custom-metrics" } },
         "endpoints" => [{ "addresses" => [KubernetesFiles::NODE_ADDRESS], "conditions" => { "ready" => true } }],
         "ports" => [{ "name" => "", "port" => PORT, "protocol" => "TCP" }] },
       { "apiVersion" => "apiregistration.k8s.io/v1", "kind" => "APIService",
         "metadata" => { "name" => service },
         "spec" => { "group" => group, "version" => version, "groupPriorityMinimum" => 100, "versionPriority" => 100,
                     "insecureSkipTLSVerify" => true,
                     "service" => { "namespace" => NAMESPACE, "name" => "custom-metrics", "port" => 443 } } }]
    end

    # @param prometheus [String] its address
    # The block returns the names of the pods.
    def initialize(prometheus, &pods)
      @prometheus = prometheus
      @pods = pods
      @name, @template = self.class.rule
    end

    # Answers on a thread of its own for each connection.
    def serve
      server = OpenSSL::SSL::SSLServer.new(TCPServer.new(KubernetesFiles::NODE_ADDRESS, PORT), context)
      server.start_immediately = false
      Thread.new { loop { Thread.new(server.accept) { |socket| answer(socket) } } }
    end

    # The metric of each pod, by Prometheus; empty while it starts.
    def samples
      uri = URI("#{@prometheus}/api/v1/query")
      uri.query = URI.encode_www_form(query: self.class.query(@template, @pods.call))
      JSON.parse(Net::HTTP.get(uri)).fetch("data").fetch("result")
    rescue Errno::ECONNREFUSED, JSON::ParserError
      [] # it still starts
    end

    private

    def context
      key = OpenSSL::PKey::RSA.new(2048)
      certificate = OpenSSL::X509::Certificate.new
      certificate.version, certificate.serial, certificate.public_key = 2, 1, key
      certificate.subject = certificate.issuer = OpenSSL::X509::Name.parse("/CN=custom-metrics")
      certificate.not_before, certificate.not_after = Time.now - 60, Time.now + 86_400
      certificate.sign(key, "SHA256")
      OpenSSL::SSL::SSLContext.new.tap { |it| it.add_certificate(certificate, key) }
    end

    def answer(socket)
      socket.accept
      while (head = socket.gets("\r\n\r\n"))
        status, body = respond(head.split[1])
        text = JSON.generate(body)
        socket.write("HTTP/1.1 #{status} x\r\nContent-Type: application/json\r\n" \
                     "Content-Length: #{text.bytesize}\r\n\r\n#{text}")
      end
    rescue SystemCallError, OpenSSL::SSL::SSLError
      nil # the client is gone
    ensure
      socket.close
    end

    def respond(target)
      case target
      when %r{\A/apis/#{VERSION}/?(\?|\z)} then [200, self.class.resources(@name)]
      when %r{\A/apis/#{VERSION}/namespaces/#{NAMESPACE}/pods/(\*|%2A)/#{@name}(\?|\z)}
        [200, self.class.values(@name, samples, Time.now)]
      else [404, { "kind" => "Status", "apiVersion" => "v1", "status" => "Failure", "code" => 404 }]
      end
    end
  end
end
