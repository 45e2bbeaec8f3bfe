# frozen_string_literal: true

require "fileutils"
require "json"
require "open3"
require "tmpdir"
require "yaml"
require_relative "../../../test/support/eventually"

module Bench
  # Runs an image of apps/ledger.ru by the stack of deploy/swarm in a swarm of this daemon, updates it under load, kills
  # replicas, and changes the memory limit of a container. The ledger has the requests that were served.
  class Swarm
    include Support::Eventually

    STACK = File.expand_path("../../../deploy/swarm", __dir__)
    PROXY = "http://127.0.0.1:80"
    SECONDS = 300
    KILLS = 5
    private_constant :STACK, :PROXY, :SECONDS, :KILLS

    # @param image [String] the tag of the application
    # @param proxy [String] that of an image with HAProxy
    def initialize(image, proxy)
      @image = image
      @proxy = proxy
      @clients = LedgerClients.new
    end

    # Prints a line for each trial.
    def run
      docker("swarm", "init", "--advertise-addr", "127.0.0.1")
      Dir.mktmpdir("carat-swarm") do |work|
        @work = work
        deploy
        update
        kill
        resize
      ensure
        docker("stack", "rm", "app")
      end
    ensure
      docker("swarm", "leave", "--force")
    end

    private

    def deploy
      Dir.mkdir(File.join(@work, "ledger"))
      File.chmod(0o777, File.join(@work, "ledger"))
      FileUtils.cp(File.join(STACK, "haproxy.cfg"), @work)
      File.write(File.join(@work, "stack.yaml"), YAML.dump(stack))
      docker("stack", "deploy", "--compose-file", File.join(@work, "stack.yaml"), "app")
      eventually(message: "three replicas", within: SECONDS) { serving == 3 && @clients.get("up", PROXY) == "200" }
    end

    # The stack with the images of the trial, and a ledger.
    def stack
      YAML.safe_load(File.read(File.join(STACK, "stack.yaml"))).tap do |stack|
        web, proxy = stack["services"].values_at("web", "proxy")
        web["image"] = @image
        web["volumes"] << "#{@work}/ledger:/ledger"
        web["environment"]["WEB_CONCURRENCY"] = "1..4"
        proxy.update("image" => @proxy, "command" => %w[haproxy -f /usr/local/etc/haproxy/haproxy.cfg])
      end
    end

    def update
      report("rolling update of three replicas") do
        docker("service", "update", "--detach", "--env-add", "RELEASE=2", "app_web")
        eventually(message: "the update", within: SECONDS) { updated? && containers.size == 3 }
      end
    end

    def kill
      report("#{KILLS} times kill -9 of a replica") do
        KILLS.times do
          killed = containers.first
          docker("kill", "--signal", "KILL", killed)
          eventually(message: "its successor", within: SECONDS) { serving == 3 && !containers.include?(killed) }
        end
      end
    end

    # A container without others, so that its load is its own. After a refork, workers would share what they keep.
    def resize
      id = docker("run", "--detach", "--memory", "#{FollowedLimit::LIMITS.first}m", "--tmpfs", "/ledger:mode=1777",
                  "--env", "WEB_CONCURRENCY=1..4", "--env", "RAILS_MAX_THREADS=1",
                  "--env", "CARAT_REFORK=off", "--env", "KEEP=#{FollowedLimit::KEPT}", @image).chomp
      address = docker("inspect", "--format", "{{.NetworkSettings.IPAddress}}", id).chomp
      url = "http://#{address}:3000"
      eventually(message: "a server", within: SECONDS) { @clients.get("up", url) == "200" }
      followed = FollowedLimit.new { |command| carat(id, command) }
      @clients.load(url) do
        FollowedLimit::LIMITS.each do |limit|
          docker("update", "--memory", "#{limit}m", "--memory-swap", "#{limit}m", id)
          puts "memory limit #{limit} MiB: #{followed.report(limit)}"
        end
      end
    ensure
      docker("rm", "--force", id) if id
    end

    def carat(id, command)
      JSON.parse(docker("exec", id, "bundle", "exec", "carat", command, "--json")[/^\{.*/])
    end

    # Runs the block under load, and compares what clients got with the ledger.
    def report(what, &)
      puts "#{what}: #{@clients.account(PROXY, File.join(@work, "ledger/served"), &)}"
    end

    # The number of healthy replicas.
    def serving
      docker("ps", "--quiet", "--filter", "name=app_web", "--filter", "health=healthy").lines.size
    end

    def containers = docker("ps", "--quiet", "--filter", "name=app_web").lines(chomp: true)

    def updated?
      docker("service", "inspect", "--format", "{{json .UpdateStatus}}", "app_web").include?('"State":"completed"')
    end

    def docker(*words)
      output, status = Open3.capture2e("docker", *words)
      status.success? ? output : abort("docker #{words.join(" ")}: #{output}")
    end
  end
end
