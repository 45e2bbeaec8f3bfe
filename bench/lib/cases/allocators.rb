# frozen_string_literal: true

module Bench
  # What the same work weighs on several allocators: at its peak, after a minute of quiet, and in CPU time.
  module Allocators
    # Loads that last this many times --duration.
    LONG = 4
    QUIET_SECONDS = 60
    SAMPLE_SECONDS = 0.1
    FORM = { uploads: 12, at_once: 4, bytes: 20 << 20 }.freeze

    # env: a callable that returns the application's variables; load: a callable that takes the server and the Options,
    # and returns how many requests were answered.
    Workload = Struct.new(:name, :app, :env, :load) do
      def to_s = name

      def measure(spec, options)
        Server.run(spec.with_env(env.call), app) do |server|
          before = server.tree_cpu
          peak = 0
          answered = Repeat.beside(-> { peak = [peak, pss_mb(server)].max }, every: SAMPLE_SECONDS) do
            load.call(server, options)
          end
          cpu = server.tree_cpu - before
          rest = Footprint.of(server, settle: options.quick ? options.settle : QUIET_SECONDS)
          { peak_mb: peak, rest_mb: rest.pss_mb, private_mb: rest.worker_private_mb, answered: answered,
            cpu_ms: cpu * 1000 / answered }
        end
      end

      private

      def pss_mb(server)
        server.members_by_role.values.flatten.sum { |member| Number.mb(member.memory.pss) }
      end
    end

    def self.requests(path, connections)
      lambda do |server, options|
        Wrk.new(server, options, path: path, connections: connections).run(LONG * options.duration).requests
      end
    end

    # Forms with a file, which Rack takes apart in the worker.
    def self.forms(server, options)
      form = Form.form(options.quick ? FORM.fetch(:bytes) / 10 : FORM.fetch(:bytes))
      clients = UploadClients.new(server.port)
      Array.new(FORM.fetch(:uploads) / FORM.fetch(:at_once)) do
        clients.upload(number: FORM.fetch(:at_once), path: "/", file: form.path, headers: Form::HEADERS)
      end.flatten.count { |upload| upload.fetch(:status) == 200 }
    end

    def self.call(spec, options)
      WORKLOADS.to_h { |workload| [workload, workload.measure(spec, options)] }
    end

    def self.obstacle
      Wrk.obstacle || Weight::RAILS.call
    end

    private_class_method :requests, :forms

    NOTHING = -> { {} }
    WORKLOADS = [
      Workload.new("strings", File.join(APPS, "allocate.ru"), NOTHING, requests("/", 16)),
      Workload.new("blog", File.join(EXAMPLES, "blog/config.ru"), -> { { "BLOG_DATA" => TestFile.path("blog") } },
                   requests("/articles/counting-swifts", 16)),
      Workload.new("Rails, 20 models", File.join(APPS, "rails_weight.ru"), Weight::DATABASE, requests("/garbage", 16)),
      Workload.new("40 MB of objects", File.join(APPS, "weight.ru"), NOTHING, requests(Weight::PATH, 16)),
      Workload.new("forms of 20 MB", File.join(APPS, "form.ru"), NOTHING, method(:forms))
    ].freeze

    CASES = [
      Case.new(
        name: "allocators", title: "Allocators: five kinds of work, two workers with five threads",
        servers: %w[carat-jemalloc carat-one-arena carat-mimalloc], variants: "work", measure: method(:call),
        needs: method(:obstacle),
        columns: [
          Column.new("PSS MB at the peak", :peak_mb, places: 1),
          Column.ratio("carat-one-arena", :peak_mb, heading: "x one arena"),
          Column.new("after a minute of quiet", :rest_mb, places: 1),
          Column.ratio("carat-one-arena", :rest_mb, heading: "x one arena"),
          Column.new("private MB of a worker then", :private_mb, places: 1),
          Column.new("CPU ms a request", :cpu_ms, places: 3),
          Column.ratio("carat-one-arena", :cpu_ms, heading: "x one arena"),
          Column.new("requests", :answered, over: :min)
        ]
      )
    ].freeze
  end
end
