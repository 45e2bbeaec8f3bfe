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
    PORT = 30_080
    URL = "http://127.0.0.1:#{PORT}"
    SECONDS = 400
    POLL_SECONDS = 1
    # Pods of several trials have room on a node of two processors.
    CPU = "100m"
    REPLICAS = 3
    SELECTOR = "app.kubernetes.io/name=app"
    private_constant :FOLDER, :SECONDS, :POLL_SECONDS, :CPU, :SELECTOR

    # The objects with a ledger, a port of this machine, and the variables of a trial.
    # ledger: a directory of the machine
    def self.changed(objects, image, ledger, variables = {})
      kinds = objects.to_h { |object| [object.fetch("kind"), object] }
      kinds.fetch("Service").fetch("spec").update("type" => "NodePort")
      kinds.dig("Service", "spec", "ports", 0).update("nodePort" => PORT)
      pod = kinds.dig("Deployment", "spec", "template", "spec")
      pod["volumes"] << { "name" => "ledger", "hostPath" => { "path" => ledger, "type" => "Directory" } }
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

    # @param kubectl [Kubectl]
    # @param ledger [String] a directory that every pod mounts
    def initialize(kubectl, image, ledger)
      @kubectl = kubectl
      @image = image
      @ledger = ledger
    end

    # The file with the requests that were served.
    def ledger = File.join(@ledger, "served")

    # Applies the objects as they stand, with the image under the name that they have.
    def apply_as_it_stands
      reset
      deployment = YAML.load_stream(@kubectl.call("kustomize", FOLDER)).find { |it| it["kind"] == "Deployment" }
      name = deployment.dig("spec", "template", "spec", "containers", 0, "image")
      system("ctr", "--address", KubernetesFiles::CONTAINERD, "--namespace", "k8s.io", "images", "tag", "--force",
             @image, name, exception: true)
      @kubectl.call("apply", "--kustomize", FOLDER)
      settled
    end

    # Applies the objects of a trial, with an empty ledger.
    def apply(variables = {})
      reset
      @objects = YAML.load_stream(@kubectl.call("kustomize", FOLDER))
      @objects = self.class.changed(@objects, @image, @ledger, variables)
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
    def ready
      pods.select { |pod| ready?(pod) && !pod.dig("metadata", "deletionTimestamp") }.map { |pod| name(pod) }
    end

    def ready?(pod)
      (pod.dig("status", "conditions") || []).any? { |it| it.values_at("type", "status") == %w[Ready True] }
    end

    def name(pod) = pod.dig("metadata", "name")

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
      @kubectl.call("delete", "horizontalpodautoscalers,deployments", "--all")
      @kubectl.call("delete", "pods", "--all", "--now")
      FileUtils.rm_rf(@ledger)
      FileUtils.mkdir_p(@ledger)
      File.chmod(0o777, @ledger)
    end

    # Waits until the block is true, which runs kubectl.
    def wait(what, within: SECONDS)
      eventually(message: what, within: within) { yield || (sleep(POLL_SECONDS) && nil) }
    end
  end
end
