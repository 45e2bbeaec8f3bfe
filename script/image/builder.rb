# frozen_string_literal: true

require "fileutils"
require "json"
require "shellwords"
require_relative "dockerfile"
require_relative "stage"

module Image
  # Carries out a Dockerfile: each stage becomes a directory.
  class Builder
    # The program of CMD.
    attr_reader :command

    # @param directory [String] where the stages go
    # @param base [String] the root that stands for every image of a registry
    # @param context [String] the directory that COPY reads
    # @param arguments [Hash] values of ARG by name, in place of their defaults
    # @param outside [Hash] variables of RUN that stand for the network: mirrors
    def initialize(directory, base:, context:, arguments: {}, outside: {})
      @directory = directory
      @base = base
      @context = context
      @arguments = arguments
      @outside = outside
      @values = {}
      @stages = {}
    end

    # Carries out the instructions and returns the last Stage.
    def build(dockerfile)
      dockerfile.instructions.each do |instruction|
        puts "#{instruction.name} #{instruction.text}"
        send(instruction.name.downcase, instruction.text)
      end
      @stage
    end

    private

    def from(text)
      image, name = text.split(/ AS /i)
      @stage = Stage.new(new_directory, @stages.fetch(image, @base))
      @stages[name] = @stage if name
    end

    def new_directory
      File.join(@directory, "stage-#{@stages.size}").tap { |path| FileUtils.mkdir_p(path) }
    end

    def arg(text)
      name, default = text.split("=", 2)
      @values[name] = @arguments.fetch(name) { Shellwords.split(default).join }
    end

    def env(text)
      Shellwords.split(text).each { |pair| @stage.variables.store(*pair.split("=", 2)) }
    end

    def workdir(text)
      @stage.directory = text
      FileUtils.mkdir_p(File.join(@stage.root, text))
    end

    def run(text)
      @stage.run(text, @values.merge(@outside))
    end

    def copy(text)
      flags, paths = Shellwords.split(text).partition { |word| word.start_with?("--") }
      flags = flags.to_h { |flag| flag.delete_prefix("--").split("=", 2) }
      *sources, target = paths
      root = flags.key?("from") ? @stages.fetch(flags["from"]).root : @context
      sources.each { |source| @stage.copy(File.join(root, source), target, owner: flags["chown"]) }
    end

    def user(text)
      @stage.user = text
    end

    def expose(_text)
    end

    def cmd(text)
      @command = JSON.parse(text)
    end
  end
end
