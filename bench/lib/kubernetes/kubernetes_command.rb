# frozen_string_literal: true

require "fileutils"

module Bench
  # The words of bench/kubernetes.
  class KubernetesCommand
    # What an image made of a directory has, as deploy/docker/Dockerfile sets it.
    SETTINGS = {
      "WorkingDir" => "/app", "User" => "1000:1000", "Cmd" => %w[bundle exec carat],
      "Env" => %w[LANG=C.UTF-8 RACK_ENV=production RAILS_ENV=production PORT=3000
                  PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin]
    }.freeze
    ROLLOUTS = %w[update unready drain kill stuck delay].freeze
    # Words that run inside of the node's namespaces.
    INSIDE = %w[trial kubectl].freeze
    private_constant :SETTINGS, :ROLLOUTS, :INSIDE

    # @param program [String] the path of bench/kubernetes
    def initialize(program)
      @program = program
      @directory = ENV.fetch("CARAT_KUBERNETES") { File.expand_path("~/.cache/carat-kubernetes") }
      @pieces = KubernetesPieces.new(@directory)
      @kubectl = Kubectl.new(@directory, @pieces)
      @namespaces = KubernetesNamespaces.new(@directory)
    end

    def run(word = nil, *words)
      case word
      when "up" then up
      when "node" then KubernetesNode.new(@directory, @pieces).run
      when "image" then KubernetesImage.write(archive(words.last), words.last, words.first, SETTINGS)
      when "application" then KubernetesWhole.write(words.first)
      when "import" then FileUtils.cp(words.first, archive(File.basename(words.first, ".tar")))
      when "down" then @namespaces.stop
      when "inside" then inside(*words)
      when *INSIDE then @namespaces.enter(@program, "inside", word, *words)
      else raise Failure, "bench/kubernetes up|image|import|trial|kubectl|down: see #{@program}"
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

    def archive(tag) = File.join(@directory, "images", "#{tag.tr("/:", "--")}.tar")

    def inside(word, *words)
      word == "kubectl" ? @kubectl.become(*words) : trials(*words)
    end

    def trials(tag, *whats)
      app = KubernetesApp.new(@kubectl, tag, File.join(@directory, "ledger"))
      rollouts, others = whats.partition { |what| ROLLOUTS.include?(what) }
      app.apply if rollouts.any?
      rollouts.each { |what| KubernetesRollouts.new(app, @kubectl).public_send(what) }
      others.each { |what| other(what, app) }
    end

    def other(what, app)
      case what
      when "plain" then app.apply_as_it_stands
      when "resize" then KubernetesResize.new(app, @kubectl).run
      when "scale" then KubernetesScale.new(app, @kubectl, @directory).run
      when "whole", "split" then KubernetesWhole.new(app, @kubectl).public_send(what)
      else raise Failure, "there is no trial #{what}"
      end
    end
  end
end
