# frozen_string_literal: true

require "minitest/autorun"
require "yaml"
require "carat/config/options"
require "carat/config/settings"
require "carat/config/sources/variables"
require_relative "../../support/deploy_files"

module Carat
  # What the files for containers say agrees with Carat's options, and with each other.
  class ContainersTest < Minitest::Test
    include Support::DeployFiles

    PORT = 3000
    # What a stop takes beyond drain_delay and shutdown_timeout.
    BEYOND_SECONDS = 4.25
    # How long the proxies of Kubernetes' nodes take to notice.
    NODES_SECONDS = 5
    # How long Heroku's router keeps a connection without a request, and waits for a response.
    ROUTER_SECONDS = 90
    ROUTER_PATIENCE_SECONDS = 30
    COMMAND = %w[bundle exec carat].freeze

    def test_every_variable_of_carat_is_an_option_with_such_a_value
      files = [pod_variables, compose_variables, kamal_variables, swarm_variables, dokku["env"], render_variables,
               fly_variables, *platform_commands.map(&:last)]
      files.each do |found|
        settings(found)

        refute_empty found
        assert_empty Config::Variables.warnings(found)
      end
    end

    def test_all_listen_on_the_same_port
      variables = [pod_variables, compose_variables, kamal_variables, swarm_variables, image_variables,
                   render_variables, fly_variables]

      assert_equal([PORT.to_s], variables.map { |found| found["PORT"] }.uniq)
      assert_equal({ "name" => "http", "containerPort" => PORT }, container["ports"].first)
      assert_equal ["#{PORT}:#{PORT}"], compose["ports"]
      assert_equal PORT, kamal.dig("proxy", "app_port")
      assert_includes dockerfile, "\nEXPOSE #{PORT}\n"
      assert_includes fly, "\n  internal_port = #{PORT}\n"
      assert_equal(PORT, dokku_check["port"])
      assert_includes haproxy, " tasks.web:#{PORT} "
    end

    def test_the_image_starts_carat_without_a_shell_and_without_privileges
      final = dockerfile[/^FROM base\n.*/m]

      assert_includes final, "\nCMD #{COMMAND.inspect}\n"
      assert_equal ["1000:1000"], final.scan(/^USER (.+)/).flatten
      assert_equal [true, 1000, 1000], pod["securityContext"].values_at("runAsNonRoot", "runAsUser", "runAsGroup")
    end

    def test_the_router_of_a_platform_closes_a_connection_first_and_gets_a_timeout_before_it_gives_up
      platform_commands.each do |command, found|
        assert_equal COMMAND, command
        assert_operator option(found, :idle_timeout), :>, ROUTER_SECONDS
        assert_operator option(found, :request_timeout), :<, ROUTER_PATIENCE_SECONDS
      end
    end

    def test_platforms_allow_the_time_that_a_stop_takes
      page = File.read(File.join(FOLDER, "../docs/platforms.md"))
      allowed = [render["maxShutdownDelaySeconds"], fly[/^kill_timeout = (\d+)/, 1],
                 page[/stop-timeout-seconds (\d+)/, 1]]

      [render_variables, fly_variables, dokku["env"]].zip(allowed) do |found, seconds|
        assert_operator Integer(seconds), :>, option(found, :shutdown_timeout) + BEYOND_SECONDS
      end
    end

    def test_platforms_ask_for_health_where_rails_answers
      assert_equal ["/up"] * 3, [render["healthCheckPath"], fly[/^    path = "(.+)"/, 1], dokku_check["path"]]
    end

    def test_the_pod_gets_the_time_that_a_stop_takes
      stop = option(pod_variables, :drain_delay) + option(pod_variables, :shutdown_timeout) + BEYOND_SECONDS

      assert_operator pod["terminationGracePeriodSeconds"], :>, stop
      assert_operator seconds(compose["stop_grace_period"]), :>,
                      option(compose_variables, :shutdown_timeout) + BEYOND_SECONDS
      assert_operator seconds(swarm["stop_grace_period"]), :>,
                      option(swarm_variables, :drain_delay) + option(swarm_variables, :shutdown_timeout) +
                      BEYOND_SECONDS
    end

    def test_the_pod_drains_until_its_readiness_probe_has_failed_everywhere
      probe = container["readinessProbe"]

      assert_equal option(pod_variables, :readiness_path), [probe.dig("httpGet", "path")]
      assert_operator option(pod_variables, :drain_delay), :>,
                      (probe["periodSeconds"] * probe["failureThreshold"]) + NODES_SECONDS
      assert_equal({ "path" => "/livez", "port" => "metrics" }, container.dig("livenessProbe", "httpGet"),
                   "a pod that drains would be killed")
    end

    def test_the_task_of_the_swarm_drains_until_the_proxy_has_noticed
      interval, failures = haproxy.match(/^  default-server inter (\d+)s fall (\d+) /).captures.map(&:to_i)

      assert_equal option(swarm_variables, :readiness_path), [haproxy[/^  option httpchk GET (\S+)$/, 1]]
      assert_operator option(swarm_variables, :drain_delay), :>, interval * failures
      assert_equal "start-first", swarm.dig("deploy", "update_config", "order")
      assert_operator Integer(haproxy[/server-template task (\d+) /, 1]), :>=, 2 * swarm.dig("deploy", "replicas")
    end

    def test_autoscalers_aim_at_seven_tenths_of_the_threads_of_a_pod
      pods = load("autoscaling/hpa.yaml").dig("spec", "metrics", 0, "pods")
      trigger = load("autoscaling/keda.yaml").dig("spec", "triggers", 0, "metadata")
      rule = load("autoscaling/prometheus-adapter.yaml").dig("rules", "custom", 0)

      assert_equal %w[700m 0.7], [pods.dig("target", "averageValue"), trigger["threshold"]]
      assert_equal "carat_utilization", pods.dig("metric", "name")
      [rule["seriesQuery"], rule["metricsQuery"], trigger["query"]].each do |query|
        assert_equal %w[carat_utilization], query.scan(/carat_\w+/)
      end
    end

    def test_a_boot_has_the_time_that_carat_allows
      boot = 2 * Config::Options.fetch(:boot_timeout).default
      probe = container["startupProbe"]

      assert_operator probe["periodSeconds"] * probe["failureThreshold"], :>, boot
      assert_operator seconds(health_check.last["start-period"]), :>, boot
      assert_operator kamal["deploy_timeout"], :>, boot
      assert_operator dokku_check["attempts"] * dokku_check["wait"], :>, boot
    end

    def test_requests_end_before_kamal_gives_them_up
      limit = Config::Options.fetch(:request_timeout).default

      assert_operator kamal["drain_timeout"], :>, limit
      assert_operator kamal.dig("proxy", "response_timeout"), :>, limit
    end

    def test_the_pod_has_the_memory_that_it_may_use
      resources = container["resources"]

      assert_equal resources.dig("limits", "memory"), resources.dig("requests", "memory")
    end

    def test_uploads_fit_in_their_volume_and_what_is_written_is_mounted
      spool = pod["volumes"].find { |volume| volume["name"] == "spool" }
      mounts = container["volumeMounts"].map { |mount| mount["mountPath"] }

      assert container.dig("securityContext", "readOnlyRootFilesystem")
      assert_equal %w[/app/tmp /tmp /var/tmp], mounts.sort
      assert_equal Config::Options.fetch(:spool_dir).default, "/var/tmp"
      assert_operator option(pod_variables, :spool_limit), :<, spool.dig("emptyDir", "sizeLimit").to_i * (1024**3)
      assert_equal ["spool:/var/tmp", "storage:/app/storage"], compose["volumes"]
      assert_equal ["spool:/var/tmp"], swarm["volumes"]
    end

    def test_service_and_disruption_budget_select_the_pods
      labels = deployment.dig("spec", "template", "metadata", "labels")
      budget, service = %w[poddisruptionbudget service].map { |name| load("kubernetes/#{name}.yaml") }

      assert_equal [labels] * 3, [deployment.dig("spec", "selector", "matchLabels"), service.dig("spec", "selector"),
                                  budget.dig("spec", "selector", "matchLabels")]
      assert_equal ["http"], service.dig("spec", "ports").map { |port| port["targetPort"] }
      assert_operator budget.dig("spec", "maxUnavailable"), :<, deployment.dig("spec", "replicas")
      assert_equal (Dir.children(File.join(FOLDER, "kubernetes")) - ["kustomization.yaml"]).sort,
                   load("kubernetes/kustomization.yaml")["resources"].sort
    end

    def test_the_page_has_the_arguments_of_the_image_and_their_defaults
      page = File.read(File.join(FOLDER, "../docs/deploy.md"))
      rows = page.scan(/^\| `([A-Z_]+)` \| .* \| (.+) \|$/).to_h
      defaults = dockerfile.scan(/^ARG ([A-Z_]+)="?([^"\n]*)"?$/).to_h

      assert_equal defaults.transform_values { |text| text.empty? ? "none" : "`#{text}`" }, rows
    end

    def test_the_page_says_which_to_take
      page = File.read(File.join(FOLDER, "../docs/deploy.md"))

      assert_empty(Dir.children(FOLDER).grep_v(/\A\./).reject { |name| page.include?("../deploy/#{name}") })
    end

    private

    # The commands of Heroku, with and without an image, each with its variables.
    def platform_commands
      procfile = File.read(File.join(FOLDER, "heroku/Procfile"))
      [procfile[/^web: (.+)/, 1], heroku.dig("run", "web")].map { |line| command_line(line) }
    end

    def dokku_check
      dokku.dig("healthchecks", "web").first
    end

    def haproxy
      File.read(File.join(FOLDER, "swarm/haproxy.cfg"))
    end

    # The value of an option with these variables.
    def option(variables, name)
      found = settings(variables)
      found.key?(name) ? found.fetch(name) : Config::Options.fetch(name).default
    end

    def settings(variables)
      Config::Settings.new.tap do |settings|
        Config::Options.each { |option| Config::Variables.new(variables).read(option, settings) }
      end
    end

    def seconds(text)
      Integer(text.delete_suffix("s"), 10)
    end
  end
end
