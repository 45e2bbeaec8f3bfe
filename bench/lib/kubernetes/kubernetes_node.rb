# frozen_string_literal: true

require "fileutils"
require "openssl"
require_relative "../../../test/support/eventually"

module Bench
  # The first process of the namespaces of a node: it starts the programs, and reaps. All of them, with the pods, end
  # when it does, and so do their mounts.
  class KubernetesNode
    include Support::Eventually

    FILES = KubernetesFiles
    # What the kubelet would write for the whole machine: it reads these instead.
    KERNEL = { "vm/overcommit_memory" => "1", "kernel/panic" => "10", "kernel/panic_on_oops" => "1" }.freeze
    # The kubelet's folder, and the logs of the pods.
    FOLDERS = { "kubelet" => "/var/lib/kubelet", "log" => "/var/log" }.freeze
    KEY = "/run/service-account.key"
    CERTIFICATES = "/run/kubernetes"
    START_SECONDS = 300
    PAUSE_SECONDS = 0.5
    private_constant :KERNEL, :FOLDERS, :KEY, :CERTIFICATES, :START_SECONDS, :PAUSE_SECONDS

    # @param directory [String] of the node's files
    # @param pieces [KubernetesPieces] its programs
    def initialize(directory, pieces)
      @directory = directory
      @pieces = pieces
      @kubectl = Kubectl.new(directory, pieces)
      @pids = {}
    end

    # Starts everything, writes a file once pods can run, and stays until it is ended.
    def run
      mount
      network
      write
      control_plane
      containers
      await("the node") { ready? }
      File.write(path("ready"), "")
      loop { Process.wait(-1) }
    end

    private

    def mount
      shell("mount -t tmpfs tmpfs /run", "mkdir -p /run/kernel /run/netns")
      KERNEL.each do |name, value|
        file = "/run/kernel/#{File.basename(name)}"
        File.write(file, "#{value}\n")
        shell("mount --bind #{file} /proc/sys/#{name}")
      end
      FOLDERS.each do |name, target|
        FileUtils.mkdir_p([path(name), target])
        shell("mount --bind #{path(name)} #{target}")
      end
      shell("mount --make-rshared /")
    end

    # A node has an address, and a way out, even if it leads nowhere.
    def network
      shell("ip link set lo up", "ip link add node type veth peer name nowhere", "ip link set node up",
            "ip link set nowhere up", "ip address add #{FILES::NODE_ADDRESS}/24 dev node",
            "ip route add default dev node", "echo 1 >/proc/sys/net/ipv4/ip_forward")
    end

    def write
      FILES.all(@directory).each do |name, text|
        FileUtils.mkdir_p(File.dirname(path(name)))
        File.write(path(name), text)
      end
      File.write(KEY, OpenSSL::PKey::RSA.new(2048).to_pem)
      Dir["/sys/fs/cgroup/*/cgroup.procs"].each do |file|
        FileUtils.mkdir_p(File.join(File.dirname(file), FILES::CGROUP))
      end
    end

    def control_plane
      start("etcd", "/usr/bin/etcd", "--data-dir=/run/etcd", "--log-level=warn")
      start("kube-apiserver", "--etcd-servers=http://127.0.0.1:2379", "--service-cluster-ip-range=#{FILES::SERVICES}",
            "--advertise-address=#{FILES::NODE_ADDRESS}", "--kubelet-preferred-address-types=InternalIP",
            "--authorization-mode=AlwaysAllow",
            "--token-auth-file=#{path("tokens.csv")}", "--cert-dir=#{CERTIFICATES}", "--enable-aggregator-routing",
            "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=#{KEY}",
            "--service-account-signing-key-file=#{KEY}")
      await("kube-apiserver") { @kubectl.succeed?("get", "--raw=/readyz") }
      start("kube-controller-manager", config, "--leader-elect=false", "--service-account-private-key-file=#{KEY}",
            "--root-ca-file=#{CERTIFICATES}/apiserver.crt")
      start("kube-scheduler", config, "--leader-elect=false")
    end

    def containers
      start("containerd", "/usr/bin/containerd", "--config", path("containerd.toml"))
      await("containerd") { KubernetesImage.ctr("version") }
      Dir[path("images/*.tar")].each { |archive| KubernetesImage.import(archive) }
      start("kubelet", config, "--config=#{path("kubelet.yaml")}", "--hostname-override=node",
            "--node-ip=#{FILES::NODE_ADDRESS}", "--cert-dir=/run/kubelet")
      start("kube-proxy", config, "--hostname-override=node", "--cluster-cidr=#{FILES::PODS}",
            "--conntrack-max-per-core=0", "--conntrack-min=0", "--conntrack-tcp-timeout-established=0",
            "--conntrack-tcp-timeout-close-wait=0")
    end

    def ready?
      @kubectl.succeed?("wait", "--for=condition=Ready", "node/node", "--timeout=5s") &&
        @kubectl.succeed?("get", "serviceaccount/default")
    end

    # Starts a compiled program, or the one at a path, with a log of its name.
    def start(name, *words)
      words.unshift(@pieces.path(name)) unless words.first.start_with?("/")
      pid = spawn(*words, in: File::NULL, %i[out err] => [path("log/#{name}.log"), "w"])
      @pids[pid] = name
    end

    def config = "--kubeconfig=#{path("kubeconfig")}"

    # Waits until the block is true; raises when a program of the node has ended.
    def await(what)
      eventually(message: what, within: START_SECONDS) do
        ended = @pids.keys.find { |pid| Process.wait(pid, Process::WNOHANG) }
        raise Failure, "#{@pids[ended]} has ended: see #{path("log")}" if ended

        yield || (sleep(PAUSE_SECONDS) && nil)
      end
    end

    def shell(*commands) = commands.each { |command| system(command, exception: true) }

    def path(name) = File.join(@directory, name)
  end
end
