# frozen_string_literal: true

require "json"
require "open3"

module Bench
  # kubectl as the administrator of a node.
  class Kubectl
    # @param directory [String] of the node's files
    # @param pieces [KubernetesPieces]
    # @param namespace [String] that of objects
    def initialize(directory, pieces, namespace = "default")
      @command = [pieces.path("kubectl"), "--kubeconfig", File.join(directory, "kubeconfig"), "--namespace", namespace]
    end

    # Returns what it prints; raises Failure when it fails.
    def call(*words, input: "")
      output, errors, status = Open3.capture3(*@command, *words, stdin_data: input)
      status.success? ? output : raise(Failure, "kubectl #{words.join(" ")[0, 200]}: #{errors.strip}")
    end

    def json(*words) = JSON.parse(call(*words, "--output", "json"))

    # Applies objects.
    def apply(objects)
      list = { "apiVersion" => "v1", "kind" => "List", "items" => objects }
      call("apply", "--filename", "-", input: JSON.generate(list))
    end

    # Whether it succeeds; nothing is printed.
    def succeed?(*words) = system(*@command, *words, %i[out err] => File::NULL)

    # Becomes kubectl.
    def become(*words) = exec(*@command, *words)
  end
end
