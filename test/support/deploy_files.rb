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

    def heroku
      load("heroku/heroku.yml")
    end

    def dokku
      JSON.parse(File.read(File.join(FOLDER, "dokku/app.json")))
    end

    def render
      load("render/render.yaml").fetch("services").first
    end

    # The text of fly.toml: Ruby has no parser for it, and script/lint_deploy parses it.
    def fly
      File.read(File.join(FOLDER, "fly/fly.toml"))
    end

    def render_variables
      render["envVars"].to_h { |variable| variable.values_at("key", "value") }.compact
    end

    def fly_variables
      fly[/^\[env\]\n(.*?)(?=^\[)/m, 1].scan(/^ +(\w+) = "(.+)"/).to_h
    end

    # The command and the variables that a line such as `env LANG=C.UTF-8 bundle exec carat` sets.
    def command_line(text)
      variables, command = text.delete_prefix("env ").split.partition { |word| word.match?(/\A[A-Z_]+=/) }
      [command, variables.to_h { |word| word.split("=", 2) }]
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
