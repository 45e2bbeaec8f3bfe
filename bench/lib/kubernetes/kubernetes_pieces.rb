# frozen_string_literal: true

require "fileutils"
require "json"
require "open3"

module Bench
  # The programs of a node of Kubernetes: those of Debian, and those that Go compiles from its module proxy, once.
  class KubernetesPieces
    VERSION = "1.34.1"
    # What Debian's packages have, and one file of each.
    PACKAGES = { "etcd-server" => "/usr/bin/etcd", "containerd" => "/usr/bin/containerd", "runc" => "/usr/sbin/runc",
                 "containernetworking-plugins" => "/usr/lib/cni/bridge", "iptables" => "/usr/sbin/iptables",
                 "iproute2" => "/usr/bin/ip", "prometheus" => "/usr/bin/prometheus" }.freeze
    # In the order in which they are compiled.
    PROGRAMS = %w[kube-apiserver kubelet kubectl kube-controller-manager kube-scheduler kube-proxy].freeze
    MODULE = "k8s.io/kubernetes"
    PAUSE = "#include <unistd.h>\nint main(void) { for (;;) pause(); }\n"
    private_constant :MODULE, :PAUSE

    # The lines that give each module of Kubernetes' own tree its version; go.mod, read, has them at v0.0.0.
    def self.replacements(go_mod)
      names = go_mod.scan(/^\s+(k8s\.io\/\S+) v0\.0\.0$/).flatten
      names.map { |name| "replace #{name} => #{name} v0.#{VERSION.split(".", 2).last}" }
    end

    # @param directory [String] where compiled programs are kept
    def initialize(directory)
      @directory = directory
    end

    # The path of a compiled program.
    def path(name) = File.join(@directory, "bin", name)

    # Sentences about what is not here, and cannot be compiled.
    def missing
      packages = PACKAGES.reject { |_, path| File.exist?(path) || File.exist?(path.sub("/bin/", "/sbin/")) }
      packages = packages.map { |name, path| "#{path} is missing (apt-get install #{name})" }
      tools = %w[go gcc].reject { |name| system("command -v #{name} >/dev/null") }
      packages + tools.map { |name| "#{name} is missing" }
    end

    # Compiles what has not been; returns the seconds that each program took.
    def build
      wanted = PROGRAMS.reject { |name| File.exist?(path(name)) }
      write_module if wanted.any?
      pause
      wanted.to_h do |name|
        begun = Bench.now
        go("build", "-mod=mod", "-p", "2", "-ldflags", flags, "-o", path(name), "#{MODULE}/cmd/#{name}")
        [name, (Bench.now - begun).round]
      end
    end

    # The program of a pod's first container.
    def pause
      return path("pause") if File.exist?(path("pause"))

      FileUtils.mkdir_p(File.dirname(path("pause")))
      run("gcc", "-static", "-Os", "-x", "c", "-o", path("pause"), "-", stdin_data: PAUSE)
      path("pause")
    end

    private

    def write_module
      FileUtils.mkdir_p(source)
      go_mod = JSON.parse(run("go", "mod", "download", "-json", "#{MODULE}@v#{VERSION}")).fetch("GoMod")
      File.write(File.join(source, "go.mod"),
                 ["module node", "go 1.24.0", "require #{MODULE} v#{VERSION}",
                  *self.class.replacements(File.read(go_mod))].join("\n\n") << "\n")
    end

    # Without a version of their own, the programs refuse each other.
    def flags
      major, minor, = VERSION.split(".")
      values = { "gitMajor" => major, "gitMinor" => minor, "gitVersion" => "v#{VERSION}" }
      "-s -w #{values.map { |name, value| "-X k8s.io/component-base/version.#{name}=#{value}" }.join(" ")}"
    end

    def go(*words) = run("nice", "-n", "5", "go", *words, chdir: source)

    def source = File.join(@directory, "module")

    def run(*words, **options)
      FileUtils.mkdir_p(@directory)
      output, errors, status = Open3.capture3({ "CGO_ENABLED" => "0" }, *words, chdir: @directory, **options)
      status.success? ? output : raise(Failure, "#{words.first(4).join(" ")}: #{errors.lines.last(5).join}")
    end
  end
end
