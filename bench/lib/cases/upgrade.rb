# frozen_string_literal: true

require "open3"
require "rbconfig"

module Bench
  # A new edge again and again, while requests and uploads are on their way.
  module Upgrade
    UPGRADES = 5
    LOAD = { connections: Restart::CONNECTIONS, rate: Restart::RATE, seconds: 75, **Restart::SLOW }.freeze
    CALM_SECONDS = 5
    # Each takes so long that it begins with one edge and ends after the next has taken over.
    UPLOADS = 4
    UPLOAD = { bytes: 8_000_000, rate: 2_000_000 }.freeze
    MEMORY_SECONDS = 0.2
    END_SECONDS = 30

    def self.call(spec, _options)
      version = TestFile.item("upgraded-version") { |path| path.tap { File.write(path, "0") } }
      Server.run(spec.with_env("RESTART_VERSION" => version), File.join(APPS, "restart.ru")) do |server|
        load = SteadyLoad.start(server, "/", **LOAD)
        sleep(CALM_SECONDS)
        uploads = Uploading.new(server.port, TestFile.random(UPLOAD.fetch(:bytes)))
        peak = 0
        found = Repeat.beside(-> { peak = [peak, Restart.pss_mb(server)].max }, every: MEMORY_SECONDS) do
          upgrade_all(server)
        end
        Restart.compared(load.finish, found).merge(uploads.finish, done: found[:done], peak_mb: peak)
      end
    end

    # Returns when the upgrades began and ended, and how many edges followed each other.
    def self.upgrade_all(server)
      began = Time.now.to_f
      edge = server.pids_by_role.fetch("edge").first
      edges = Array.new(UPGRADES) do
        await_end_of_predecessor(server)
        sleep(UPLOAD.fetch(:bytes).fdiv(UPLOAD.fetch(:rate)) / 2)
        edge = upgrade(edge)
      end
      { began: began, ended: Time.now.to_f, done: edges.uniq.size }
    end

    def self.await_end_of_predecessor(server)
      server.poll(END_SECONDS) { server.pids_by_role.fetch("edge").size == 1 } ||
        raise(Failure, "the old edge did not end")
    end

    # The process id of the new edge.
    def self.upgrade(edge)
      output, status = Open3.capture2e(RbConfig.ruby, Servers::CARAT, "upgrade", "--pid", edge.to_s)
      raise Failure, output unless status.success?

      Integer(output[/process (\d+) serves/, 1])
    end

    private_class_method :upgrade_all, :await_end_of_predecessor, :upgrade

    # Clients that upload a file one time after the other.
    class Uploading
      # file: a TestFile::Item
      def initialize(port, file)
        @finished = false
        @clients = Array.new(UPLOADS) { Thread.new { upload(port, file) } }
      end

      # Waits for the uploads that have begun; returns how many there were, and how many did not arrive whole.
      def finish
        @finished = true
        arrived = @clients.flat_map(&:value)
        { uploads: arrived.size, broken: arrived.count(false) }
      end

      private

      # Whether each arrived whole.
      def upload(port, file)
        arrived = []
        until @finished
          response = Upload.new(port, path: "/", file: file.path, rate: UPLOAD.fetch(:rate)).run
          arrived << (response[:status] == 200 && response[:body] == file.sha256)
        end
        arrived
      end
    end

    CASES = [
      Case.new(
        name: "upgrade", title: "Five upgrades of the edge under load, with uploads in flight", once: true,
        servers: %w[carat-restart-t3 carat-restart-f16], measure: method(:call), needs: SteadyLoad.method(:obstacle),
        columns: [
          *Column.requests, Column.new("upgrades", :done, target: Target.at_least(UPGRADES)),
          Column.new("uploads", :uploads), Column.new("of them broken", :broken, over: :sum, target: Target.at_most(0)),
          Column.new("p99 ms before", :calm_p99_ms, places: 1), Column.new("during", :during_p99_ms, places: 1),
          Column.new("during x before", :ratio, over: :max, places: 2),
          Column.new("peak PSS MB", :peak_mb, over: :max, places: 1)
        ]
      )
    ].freeze
  end
end
