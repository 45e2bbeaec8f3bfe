# frozen_string_literal: true

require "fileutils"
require "json"
require "time"
require "yaml"
require_relative "../../../test/support/eventually"

module Bench
  # The objects of deploy/kubernetes on a node, with an image of apps/ledger.ru.
  class KubernetesApp
    include Support::Eventually

    FOLDER = File.expand_path("../../../deploy/kubernetes", __dir__)
    SECONDS = 400
    POLL_SECONDS = 1
    # Pods of several trials have room on a node of two processors.
    CPU = "100m"
    REPLICAS = 3
    SELECTOR = "app.kubernetes.io/name=app"
    LEDGER_APP = File.expand_path("../../apps/ledger.ru", __dir__)
    CONTAINER = ["spec", "template", "spec", "containers", 0].freeze
    private_constant :FOLDER, :SECONDS, :POLL_SECONDS, :CPU, :SELECTOR, :LEDGER_APP, :CONTAINER

    # Writes the application of the ledger to a directory, for script/build_image.
    def self.write(directory)
      FileUtils.mkdir_p(directory)
      FileUtils.cp(LEDGER_APP, File.join(directory, "config.ru"))
      File.write(File.join(directory, "Gemfile"), "source \"https://rubygems.org\"\ngem \"carat\"\ngem \"rack\"\n")
    end

    # The objects with the ledger and the port of a space, and the variables of a trial.
    def self.changed(objects, image, space, variables = {})
      kinds = objects.to_h { |object| [object.fetch("kind"), object] }
      kinds.fetch("Service").fetch("spec").update("type" => "NodePort")
      kinds.dig("Service", "spec", "ports", 0).update("nodePort" => space.port)
      pod = kinds.dig("Deployment", "spec", "template", "spec")
      pod["volumes"] << { "name" => "ledger", "hostPath" => { "path" => space.ledger, "type" => "Directory" } }
      pod["initContainers"].each { |container| container["image"] = image }
      change_container(pod["containers"].first, image, variables)
      objects
    end

    def self.change_container(container, image, variables)
      container["image"] = image
      container["volumeMounts"] << { "name" => "ledger", "mountPath" => "/ledger" }
      container["resources"]["requests"]["cpu"] = CPU
      values = container["env"].to_h { |variable| variable.values_at("name", "value") }.merge(variables)
      container["env"] = values.map { |name, value| { "name" => name, "value" => value } }
    end
    private_class_method :change_container

    # @param kubectl [Kubectl] of the namespace of the space
    # @param space [KubernetesSpace]
    def initialize(kubectl, image, space)
      @kubectl = kubectl
      @image = image
      @space = space
    end

    # Where the Service is, and its port.
    def url = @space.url
    def port = @space.port

    # The file with the requests that were served.
    def ledger = File.join(@space.ledger, "served")

    # The lines of the ledger.
    def lines = File.exist?(ledger) ? File.readlines(ledger, chomp: true) : []

    # Applies the objects as they stand, with the image under the name that they have.
    def apply_as_it_stands
      reset
      deployment = YAML.load_stream(@kubectl.call("kustomize", FOLDER)).find { |it| it["kind"] == "Deployment" }
      name = deployment.dig("spec", "template", "spec", "containers", 0, "image")
      KubernetesImage.ctr("images", "tag", "--force", @image, name) || raise(Failure, "there is no image #{@image}")
      @kubectl.call("apply", "--kustomize", FOLDER)
      settled
    end

    # Applies the objects of a trial, with an empty ledger, and memory in place of the file's.
    def apply(variables = {}, memory = nil)
      reset
      @objects = YAML.load_stream(@kubectl.call("kustomize", FOLDER))
      @objects = self.class.changed(@objects, @image, @space, variables)
      resources = @objects.find { |it| it["kind"] == "Deployment" }.dig(*CONTAINER, "resources")
      %w[requests limits].each { |kind| resources[kind]["memory"] = memory } if memory
      @kubectl.apply(@objects)
      settled
    end

    # Adds a Deployment of one pod with another command, and without probes.
    def add(name, command)
      deployment = Marshal.load(Marshal.dump(@objects.find { |object| object["kind"] == "Deployment" }))
      deployment["metadata"]["name"] = name
      deployment["spec"]["replicas"] = 1
      [deployment.dig("spec", "selector", "matchLabels"), deployment.dig("spec", "template", "metadata", "labels")]
        .each { |labels| labels.transform_values! { name } }
      container = deployment.dig("spec", "template", "spec", "containers", 0)
      container.delete_if { |key, _| key.end_with?("Probe") }.update("command" => command)
      @kubectl.apply([deployment])
      @kubectl.call("rollout", "status", "deployment/#{name}", "--timeout=#{SECONDS}s")
    end

    # Sets variables of the pods, which replaces all of them.
    def set(variables)
      @kubectl.call("set", "env", "deployment/app", *variables.map { |name, value| "#{name}=#{value}" })
    end

    # Changes the container of all pods, which replaces them.
    def change(container)
      patch = { "spec" => { "template" => { "spec" => { "containers" => [{ "name" => "app" }.merge(container)] } } } }
      @kubectl.call("patch", "deployment/app", "--patch", JSON.generate(patch))
    end

    # Waits until all pods are those of the last change, and ready.
    def settled
      @kubectl.call("rollout", "status", "deployment/app", "--timeout=#{SECONDS}s")
      wait("pods") { pods.size == replicas && ready.size == replicas }
    end

    def replicas = @kubectl.json("get", "deployment/app").dig("spec", "replicas")

    # All pods, also those that end.
    def pods = @kubectl.json("get", "pods", "--selector", SELECTOR).fetch("items")

    # The pods of all Deployments.
    def all_pods = @kubectl.json("get", "pods").fetch("items")

    # The names of the pods that the Service may name.
    def ready = pods.select { |pod| serving?(pod) }.map { |pod| name(pod) }

    # Whether the Service may name the pod.
    def serving?(pod) = ready?(pod) && !pod.dig("metadata", "deletionTimestamp")

    def ready?(pod)
      (pod.dig("status", "conditions") || []).any? { |it| it.values_at("type", "status") == %w[Ready True] }
    end

    def name(pod) = pod.dig("metadata", "name")

    # The URL of a pod that has an address.
    def address(pod) = pod.dig("status", "podIP")&.then { |address| "http://#{address}:3000" }

    # A pod by its name.
    def pod(name) = @kubectl.json("get", "pod", name)

    # How often containers of the pods have been started again.
    def restarts
      pods.sum { |pod| (pod.dig("status", "containerStatuses") || []).sum { |it| it["restartCount"] } }
    end

    # Runs a subcommand of carat in a pod.
    def carat(pod, command)
      output = @kubectl.call("exec", pod, "--", "bundle", "exec", "carat", command, "--json")
      JSON.parse(output[/^\{.*/])
    end

    # Runs a program of the shell in a pod.
    def shell(pod, program) = @kubectl.call("exec", pod, "--", "sh", "-c", program)

    # Removes what an earlier trial has left.
    def reset
      @kubectl.succeed?("create", "namespace", @space.namespace)
      wait("a service account") { @kubectl.succeed?("get", "serviceaccount/default") }
      @kubectl.call("delete", "horizontalpodautoscalers,deployments", "--all")
      @kubectl.call("delete", "pods", "--all", "--now")
      FileUtils.rm_rf(@space.ledger)
      FileUtils.mkdir_p(@space.ledger)
      File.chmod(0o777, @space.ledger)
    end

    # Waits until the block is true, which runs kubectl.
    def wait(what, within: SECONDS)
      eventually(message: what, within: within) { yield || (sleep(POLL_SECONDS) && nil) }
    end
  end
end
