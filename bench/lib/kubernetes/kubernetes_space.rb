# frozen_string_literal: true

module Bench
  # What trials that run at the same time do not share: a namespace of the cluster, a port of this machine, and a
  # directory that the pods mount.
  KubernetesSpace = Struct.new(:namespace, :port, :ledger) do
    # The space of this number; 0 is the namespace `default`. directory: of the node's files
    def self.of(number, directory)
      name = number.zero? ? "default" : "trial-#{number}"
      new(name, 30_080 + number, File.join(directory, "ledger-#{number}"))
    end

    def url = "http://127.0.0.1:#{port}"
  end
end
