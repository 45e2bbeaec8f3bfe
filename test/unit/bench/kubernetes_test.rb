# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "yaml"
require_relative "../../../bench/lib/bench"
require_relative "../../support/deploy_files"

# What bench/kubernetes decides without a node.
class KubernetesTest < Minitest::Test
  include Support::DeployFiles

  def test_each_module_of_the_tree_gets_the_version_of_the_release
    go_mod = "require (\n\tk8s.io/api v0.0.0\n\tk8s.io/utils v0.0.0-20250604170112-4c0f3b243397\n)\n"

    assert_equal ["replace k8s.io/api => k8s.io/api v0.34.1"], Bench::KubernetesPieces.replacements(go_mod)
  end

  def test_the_objects_of_a_trial_are_those_of_deploy_with_a_ledger_and_a_port
    objects = %w[deployment service poddisruptionbudget].map { |name| load("kubernetes/#{name}.yaml") }
    variables = { "PORT" => "3000", "NEW" => "1" }
    space = Bench::KubernetesSpace.of(1, "/somewhere")
    deployment, service, = Bench::KubernetesApp.changed(objects, "image:1", space, variables)
    found = deployment.dig("spec", "template", "spec", "containers", 0)

    assert_equal({ "port" => 80, "targetPort" => "http", "name" => "http", "nodePort" => 30_081 },
                 service.dig("spec", "ports", 0))
    assert_equal container["env"] + [{ "name" => "NEW", "value" => "1" }], found["env"]
    assert_equal [container["livenessProbe"], "image:1"], found.values_at("livenessProbe", "image")
    assert_equal container["volumeMounts"].size + 1, found["volumeMounts"].size
  end

  def test_what_the_node_reads_names_its_directory_and_parses
    files = Bench::KubernetesFiles.all("/somewhere")

    assert_includes files["containerd.toml"], "root = \"/somewhere/containerd\"\n"
    assert_equal Bench::KubernetesFiles::PODS,
                 JSON.parse(files["cni/10-bridge.conflist"]).dig("plugins", 0, "ipam", "ranges", 0, 0, "subnet")
    assert_equal "cgroupfs", JSON.parse(files["kubelet.yaml"])["cgroupDriver"]
  end

  def test_an_image_has_one_layer_and_what_a_dockerfile_sets
    files = Bench::KubernetesImage.manifest("app:1", "d1", "User" => "1000:1000")
    manifest = JSON.parse(files.delete("manifest.json")).first

    assert_equal [["app:1"], ["layer.tar"], files.keys.first], manifest.values_at("RepoTags", "Layers", "Config")
    assert_equal [{ "User" => "1000:1000" }, ["sha256:d1"]],
                 JSON.parse(files.values.first).then { |it| [it["config"], it.dig("rootfs", "diff_ids")] }
  end

  def test_events_that_a_stream_has_not_brought_are_missing
    received = [[1, 2, 4], [7, 7, 8]].map { |numbers| Bench::LedgerStreams::Received.new(numbers, 1, 0, 0.25) }

    assert_equal "2 streams, 6 events, ended 2 times, missing 1, twice 1, silent for at most 0.3 s",
                 Bench::LedgerStreams.compare(received)
  end

  def test_uploads_and_posts_that_fail_are_told_from_others
    answers = { "get-1" => "502", "post-1" => "200", "post-2" => "200", "upload-1" => "503" }

    assert_equal "4 requests, not answered with 200: 2 {\"502\"=>1, \"503\"=>1} (1 of them POST), run twice 1, " \
                 "answered but not run 1",
                 Bench::LedgerClients.compare(answers, %w[post-1 post-1]).gsub(" => ", "=>")
  end

  def test_trials_at_the_same_time_share_no_namespace_port_or_ledger
    first, second = [0, 1].map { |number| Bench::KubernetesSpace.of(number, "/somewhere") }

    assert_equal ["default", 30_080, "/somewhere/ledger-0"], first.to_a
    assert_empty first.to_a & second.to_a
  end

  def test_a_hook_goes_when_the_next_pods_have_none
    change = Bench::KubernetesDelays.change("5s", nil)

    assert_equal [{ "name" => "CARAT_DRAIN_DELAY", "value" => "5s" }], change["env"]
    assert_includes JSON.generate(change), '"lifecycle":null'
  end

  def test_a_proxy_that_asks_leaves_a_pod_after_two_failures_and_takes_a_new_one_when_it_is_up
    pods, up = %w[a b], %w[a]
    app = Object.new
    app.define_singleton_method(:pods) { pods }
    app.define_singleton_method(:address, &:itself)
    proxy = Bench::LateProxies::Probing.new(app) { |url| up.include?(url) }
    up.replace(%w[b])
    found = Array.new(3) { proxy.renew.keys }

    assert_equal [%w[a b], %w[b], %w[b]], found
    assert_equal "b", proxy.call
  end

  def test_what_a_compiler_has_reserved_is_the_range_with_machine_code
    maps = <<~MAPS
      1000000-1003000 r-xp 00000000 00:00 0
      1003000-2900000 ---p 00000000 00:00 0
      2900000-2a00000 rw-p 00000000 00:00 0
      3000000-9000000 ---p 00000000 00:00 0
      9000000-9002000 r-xp 00000000 00:00 0                          [vdso]
      a000000-a100000 r-xp 00001000 fe:00 17                         /usr/bin/ruby
    MAPS

    assert_equal 25 << 20, Bench::KubernetesProcesses.code_bytes(maps)
    assert_equal 0, Bench::KubernetesProcesses.code_bytes(maps.lines.last(4).join)
  end

  def test_jobs_and_messages_that_are_not_there_are_lost
    found = Bench::KubernetesWhole.compare(%w[200 201 503], [1, 2, 3], [1, 2, 2], [[1, 2, 3], [1]])

    assert_equal "3 requests, failed 1 {\"503\"=>1}; 3 jobs, lost 1, twice 1; 6 messages to 2 sockets, lost 2",
                 found.gsub(" => ", "=>")
  end

  def test_an_autoscaler_gets_the_metric_of_its_file_by_the_query_of_the_adapter
    name, template = Bench::CustomMetrics.rule
    query = Bench::CustomMetrics.query(template, %w[app-1 app-2])
    sample = { "metric" => { "pod" => "app-1" }, "value" => [0, "0.7"] }
    item = Bench::CustomMetrics.values(name, [sample], Time.at(0))["items"].first

    assert_equal load("autoscaling/hpa.yaml").dig("spec", "metrics", 0, "pods", "metric", "name"), name
    assert_equal ["sum by (pod)", "{namespace=\"default\",pod=~\"app-1|app-2\"}"],
                 query.scan(/sum by \(pod\)|\{.*?\}/)
    assert_equal %w[app-1 700m], [item.dig("describedObject", "name"), item["value"]]
  end

  def test_prometheus_scrapes_the_port_of_metrics_of_each_pod_that_has_an_address
    pods = [{ "status" => { "podIP" => "10.244.0.2" }, "metadata" => { "name" => "app-1" }, "spec" => pod },
            { "status" => {}, "metadata" => { "name" => "app-2" }, "spec" => pod }]

    assert_equal [{ "targets" => ["10.244.0.2:9394"], "labels" => { "namespace" => "default", "pod" => "app-1" } }],
                 Bench::KubernetesScale.targets(pods)
  end
end
