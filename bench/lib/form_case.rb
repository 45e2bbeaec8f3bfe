# frozen_string_literal: true

require "json"
require_relative "client_process"
require_relative "form_sample"
require_relative "form_table"
require_relative "material"
require_relative "observation"
require_relative "server"

module Bench
  # A large file in a form, and a small request beside it.
  class FormCase
    BOUNDARY = "bench-boundary"
    HEADERS = { "Content-Type" => "multipart/form-data; boundary=#{BOUNDARY}", "Accept" => "application/json" }.freeze
    OPENING = "--#{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"bench.bin\"\r\n" \
              "Content-Type: application/octet-stream\r\n\r\n".freeze
    CLOSING = "\r\n--#{BOUNDARY}--\r\n".freeze
    PROBE = { path: "/ping", pause: 0.002 }.freeze
    ALONE_SECONDS = 2

    attr_reader :title, :peers

    def initialize(title:, app:, peers:, megabytes:)
      @title = title
      @app = app
      @peers = peers
      @megabytes = megabytes
    end

    # The first upload shows what it costs, a second one how another request fares beside it.
    def measure(peer, arguments)
      form = form((@megabytes << 20) / (arguments.quick ? 10 : 1))
      ClientProcess.beside(peer, @app, "upload_clients", "probe_clients") do |server, clients, probe|
        seen = Observation.of(server, settle: arguments.settle) { upload(peer, clients, form) }
        FormSample.new(peer, seen, form.bytes, beside(peer, clients, probe, form))
      end
    end

    def table(samples)
      FormTable.new(samples).to_s
    end

    private

    # The digest is the file's, the path the whole form's.
    def form(bytes)
      Material.item("form-#{bytes}") do |path|
        file = Material.random(bytes)
        File.open(path, "wb") do |form|
          form.write(OPENING)
          IO.copy_stream(file.path, form)
          form.write(CLOSING)
        end
        Material::Item.new(path, bytes, file.sha256)
      end
    end

    def upload(peer, clients, form)
      upload = clients.order(:upload, path: "/", file: form.path, headers: HEADERS).first
      right = upload[:status] == 200 && JSON.parse(upload[:body])["sha256"] == form.sha256
      raise Failure, "#{peer.name} answered #{upload[:status]} #{upload[:body][0, 200]}" unless right

      upload
    end

    # Probes alone, while the form arrives, and until it is answered: lists of seconds.
    def beside(peer, clients, probe, form)
      probe.order(:start, **PROBE)
      sleep(ALONE_SECONDS)
      alone = probe.order(:stop)
      probe.order(:start, **PROBE)
      upload = upload(peer, clients, form)
      { alone: alone.map { |_, seconds, _| seconds },
        **FormSample.meanwhile(probe.order(:stop), upload) }
    end
  end
end
