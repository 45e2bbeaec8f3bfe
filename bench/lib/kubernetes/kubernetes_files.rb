# frozen_string_literal: true

require "json"

module Bench
  # The configuration of the programs of a node, by the name of the file. JSON is YAML.
  module KubernetesFiles
    TOKEN = "trial"
    SERVER = "https://127.0.0.1:6443"
    PODS = "10.244.0.0/24"
    SERVICES = "10.96.0.0/16"
    NODE_ADDRESS = "10.200.0.1"
    CGROUP = "carat-kubernetes"
    CONTAINERD = "/run/containerd/containerd.sock"
    PAUSE = "localhost/pause:1"

    module_function

    # What `directory` has when the programs start.
    def all(directory)
      { "tokens.csv" => "#{TOKEN},admin,admin,system:masters\n",
        "kubeconfig" => JSON.generate(kubeconfig), "kubelet.yaml" => JSON.generate(kubelet),
        "containerd.toml" => containerd(directory), "cni/10-bridge.conflist" => JSON.generate(network) }
    end

    # Everybody on the node is its administrator, and nobody else reaches it.
    def kubeconfig
      { "apiVersion" => "v1", "kind" => "Config", "current-context" => "node",
        "clusters" => [{ "name" => "node",
                         "cluster" => { "server" => SERVER, "insecure-skip-tls-verify" => true } }],
        "users" => [{ "name" => "admin", "user" => { "token" => TOKEN } }],
        "contexts" => [{ "name" => "node", "context" => { "cluster" => "node", "user" => "admin" } }] }
    end

    # Control groups below one of their own, so that a teardown finds them. The machine's disk is not the pods' matter.
    def kubelet
      { "apiVersion" => "kubelet.config.k8s.io/v1beta1", "kind" => "KubeletConfiguration",
        "authentication" => { "anonymous" => { "enabled" => true }, "webhook" => { "enabled" => false } },
        "authorization" => { "mode" => "AlwaysAllow" },
        "cgroupDriver" => "cgroupfs", "cgroupRoot" => "/#{CGROUP}", "failCgroupV1" => false,
        "containerRuntimeEndpoint" => "unix://#{CONTAINERD}", "resolvConf" => "",
        "evictionHard" => { "memory.available" => "100Mi", "nodefs.available" => "1%", "imagefs.available" => "1%" },
        "imageGCHighThresholdPercent" => 100, "imageGCLowThresholdPercent" => 99 }
    end

    def containerd(directory)
      <<~TOML
        version = 2
        root = "#{directory}/containerd"
        state = "/run/containerd"
        [grpc]
          address = "#{CONTAINERD}"
        [plugins."io.containerd.grpc.v1.cri"]
          sandbox_image = "#{PAUSE}"
          disable_apparmor = true
          restrict_oom_score_adj = true
        [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
          runtime_type = "io.containerd.runc.v2"
        [plugins."io.containerd.grpc.v1.cri".cni]
          bin_dir = "/usr/lib/cni"
          conf_dir = "#{directory}/cni"
      TOML
    end

    def network
      { "cniVersion" => "1.0.0", "name" => "pods",
        "plugins" => [{ "type" => "bridge", "bridge" => "pods", "isGateway" => true, "hairpinMode" => true,
                        "ipam" => { "type" => "host-local", "dataDir" => "/run/cni",
                                    "ranges" => [[{ "subnet" => PODS }]] } }] }
    end
  end
end
