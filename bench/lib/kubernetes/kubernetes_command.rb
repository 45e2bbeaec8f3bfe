# frozen_string_literal: true

require "fileutils"

module Bench
  # The words of bench/kubernetes.
  class KubernetesCommand
    ROLLOUTS = %w[update unready drain kill crash stuck].freeze
    # Words that run inside of the node's namespaces.
    INSIDE = %w[trial kubectl].freeze
    APPLICATIONS = { "ledger" => "KubernetesApp", "whole" => "KubernetesWhole" }.freeze
    private_constant :ROLLOUTS, :INSIDE, :APPLICATIONS

    # @param program [String] the path of bench/kubernetes
    def initialize(program)
      @program = program
      @directory = ENV.fetch("CARAT_KUBERNETES") { File.expand_path("~/.cache/carat-kubernetes") }
      @pieces = KubernetesPieces.new(@directory)
      @space = KubernetesSpace.of(Integer(ENV.fetch("TRIAL", "0")), @directory)
      @kubectl = Kubectl.new(@directory, @pieces, @space.namespace)
      @namespaces = KubernetesNamespaces.new(@directory)
    end

    def run(word = nil, *words)
      case word
      when "up" then up
      when "node" then KubernetesNode.new(@directory, @pieces).run
      when "application" then Bench.const_get(APPLICATIONS.fetch(words.first)).write(words.last)
      when "import" then import(words.first)
      when "down" then @namespaces.stop
      when "inside" then inside(*words)
      when *INSIDE then @namespaces.enter(@program, "inside", word, *words)
      else raise Failure, "bench/kubernetes up|application|import|trial|kubectl|down: see #{@program}"
      end
    end

    private

    def up
      missing = @pieces.missing
      raise Failure, missing.join("\n") if missing.any?

      @pieces.build.each { |name, seconds| puts "#{name}: compiled in #{seconds} s" }
      KubernetesImage.write_pause(archive("pause"), @pieces.path("pause"))
      begun = Bench.now
      @namespaces.start(@program, "node")
      puts "the node is ready after #{(Bench.now - begun).round} s"
    end

    # Keeps an archive for each start of a node, and gives it to one that runs.
    def import(path)
      kept = archive(File.basename(path, ".tar"))
      FileUtils.mkdir_p(File.dirname(kept))
      FileUtils.cp(path, kept)
      @namespaces.enter(@program, "inside", "import", kept) if @namespaces.running?
    end

    def archive(tag) = File.join(@directory, "images", "#{tag.tr("/:", "--")}.tar")

    def inside(word, *words)
      case word
      when "kubectl" then @kubectl.become(*words)
      when "import" then KubernetesImage.import(words.first) || raise(Failure, "ctr refuses #{words.first}")
      else trials(*words)
      end
    end

    def trials(tag, *whats)
      app = KubernetesApp.new(@kubectl, tag, @space)
      rollouts, others = whats.partition { |what| ROLLOUTS.include?(what) }
      app.apply if rollouts.any?
      KubernetesRollouts.new(app, @kubectl).then { |trial| rollouts.each { |what| trial.public_send(what) } }
      others.each { |what| other(what, app) }
    end

    def other(what, app)
      case what
      when "plain" then app.apply_as_it_stands
      when "delay" then app.apply && KubernetesDelays.new(app).run
      when "resize" then KubernetesResize.new(app, @kubectl).run
      when "scale" then scale(app)
      when "whole" then KubernetesWhole.new(app).run
      when "split" then KubernetesSplit.new(app, @kubectl).run
      else raise Failure, "there is no trial #{what}"
      end
    end

    def scale(app)
      raise Failure, "scale runs without TRIAL" unless @space.namespace == CustomMetrics::NAMESPACE

      KubernetesScale.new(app, @kubectl, @directory).run
    end
  end
end
