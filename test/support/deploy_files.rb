# frozen_string_literal: true

require "json"
require "yaml"

module Support
  # The files in deploy/, read.
  module DeployFiles
    FOLDER = File.expand_path("../../deploy", __dir__)

    private

    def load(path)
      YAML.safe_load(File.read(File.join(FOLDER, path)))
    end

    def dockerfile
      File.read(File.join(FOLDER, "docker/Dockerfile"))
    end

    def deployment
      load("kubernetes/deployment.yaml")
    end

    def pod
      deployment.dig("spec", "template", "spec")
    end

    def container
      pod["containers"].first
    end

    def compose
      load("compose/compose.yaml").dig("services", "web")
    end

    def swarm
      load("swarm/stack.yaml").dig("services", "web")
    end

    def kamal
      load("kamal/deploy.yml")
    end

    def pod_variables
      container["env"].to_h { |variable| variable.values_at("name", "value") }
    end

    def swarm_variables
      swarm["environment"]
    end

    def compose_variables
      compose["environment"].transform_values(&:to_s)
    end

    def kamal_variables
      kamal.dig("env", "clear").transform_values(&:to_s)
    end

    # The program of the image's health check with its arguments, and its flags.
    def health_check
      flags, command = dockerfile[/^HEALTHCHECK (.+?\])$/m, 1].gsub("\\\n", "").split(" CMD ")
      [JSON.parse(command), flags.scan(/--([a-z-]+)=(\S+)/).to_h]
    end

    def image_variables
      { "PORT" => dockerfile[/^ENV PORT=(.+)/, 1] }
    end
  end
end
