# frozen_string_literal: true

require "json"

module Bench
  # A large file in a form, and small requests beside it.
  module Form
    MEGABYTES = 322
    BOUNDARY = "bench-boundary"
    HEADERS = { "Content-Type" => "multipart/form-data; boundary=#{BOUNDARY}", "Accept" => "application/json" }.freeze
    OPENING = "--#{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"bench.bin\"\r\n" \
              "Content-Type: application/octet-stream\r\n\r\n".freeze
    CLOSING = "\r\n--#{BOUNDARY}--\r\n".freeze
    PROBE = { path: "/ping", pause: 0.002 }.freeze
    ALONE_SECONDS = 2

    # Measures the cost of a first upload, and how long small requests take beside a second one.
    def self.call(spec, options)
      form = form((MEGABYTES << 20) / (options.quick ? 10 : 1))
      ClientProcess.beside(spec, File.join(APPS, "form.ru"), "UploadClients", "ProbeClient") do |server, clients, probe|
        seen = Observation.of(spec, server, settle: options.settle) { upload(spec, clients, form) }
        { **cost(seen, form.bytes), **probe(spec, clients, probe, form) }
      end
    end

    # The digest and the size are the file's, the path the whole form's.
    def self.form(bytes)
      TestFile.item("form-#{bytes}") do |path|
        file = TestFile.random(bytes)
        File.open(path, "wb") do |form|
          form.write(OPENING)
          IO.copy_stream(file.path, form)
          form.write(CLOSING)
        end
        TestFile::Item.new(path, bytes, file.sha256)
      end
    end

    def self.upload(spec, clients, form)
      upload = clients.call(:upload, path: "/", file: form.path, headers: HEADERS).first
      right = upload[:status] == 200 && JSON.parse(upload[:body])["sha256"] == form.sha256
      raise Failure, "#{spec.name} responded with #{upload[:status]} #{upload[:body][0, 200]}" unless right

      upload
    end

    def self.cost(seen, bytes)
      upload = seen.value
      digest = upload[:headers].fetch(:"x-digest-cpu").to_f
      { seconds: upload[:ended] - upload[:started], **seen.growth, digest_cpu_ms: digest * 1000,
        worker_cpu_ms: (seen.worker_cpu - digest) * 1000, written: seen.disk_bytes.fdiv(bytes) }
    end

    # How long probes take alone, while the form arrives, and from then until its response.
    def self.probe(spec, clients, probe, form)
      probe.call(:start, **PROBE)
      sleep(ALONE_SECONDS)
      alone = probe.call(:stop)
      probe.call(:start, **PROBE)
      upload = upload(spec, clients, form)
      arriving, processing = split(probe.call(:stop), upload)
      { alone_p99_ms: p99(alone), alone_max_ms: max(alone), arriving_p99_ms: p99(arriving),
        arriving_max_ms: max(arriving), processing_max_ms: max(processing) }
    end

    # Probes that ended while the body was sent, and probes that overlapped the processing after it.
    def self.split(probes, upload)
      during = probes.select { |sent, _, _| sent.between?(upload[:started], upload[:ended]) }
      during.partition { |sent, seconds, _| sent + seconds <= upload[:sent] }
    end

    def self.p99(probes) = Statistics.percentile(probes.map { |_, seconds, _| seconds * 1000 }, 99)

    def self.max(probes) = probes.map { |_, seconds, _| seconds * 1000 }.max

    private_class_method :upload, :cost, :probe, :p99, :max

    # Targets are for the edge that takes the form apart.
    def self.goal(target) = ->(row) { target if row.spec.name == "carat-form" }

    CASES = [
      Case.new(
        name: "form", title: "A file of 322 MB in a form", servers: %w[carat-form carat-t3 puma-t3],
        measure: method(:call),
        columns: [
          Column.new("seconds", :seconds, places: 2),
          Column.ratio("puma-t3", :seconds, heading: "x puma", inverse: true, target: goal(Target.at_least(1.3))),
          *Column.growth(worker: goal(Target.at_most(2))),
          Column.new("worker CPU ms beyond digest", :worker_cpu_ms, places: 1, target: goal(Target.at_most(20))),
          Column.new("digest CPU ms", :digest_cpu_ms),
          Column.new("written per byte", :written, over: :max, places: 2, target: goal(Target.at_most(1.01))),
          Column.new("GET alone p99 ms", :alone_p99_ms, places: 1),
          Column.new("max ms", :alone_max_ms, over: :max, places: 1),
          Column.new("while the body arrives p99 ms", :arriving_p99_ms, places: 1, target: goal(Target.at_most(10))),
          Column.new("max ms", :arriving_max_ms, over: :max, places: 1),
          Column.new("until the response max ms", :processing_max_ms, over: :max, places: 1)
        ]
      )
    ].freeze
  end
end
