# frozen_string_literal: true

module Bench
  # A whole Rails application on a node: pages, jobs that Solid Queue runs beside the web, and sockets of Action Cable
  # that hear of each job. All pods share SQLite's files, which only one node allows.
  class KubernetesWhole
    SHARED = "/ledger/storage"
    UP = 'get "up" => "rails/health#show"'
    # What WholeApp has, with files that the pods share, a broker, and processes; without JOBS=none also those of jobs.
    FILES = {
      **WholeApp::FILES,
      "config/routes.rb" => WholeApp::FILES.fetch("config/routes.rb").sub("do\n", "do\n  #{UP}\n"),
      "config/database.yml" => WholeApp::FILES.fetch("config/database.yml").gsub("storage/", "#{SHARED}/"),
      "app/jobs/entry_job.rb" => WholeApp::FILES.fetch("app/jobs/entry_job.rb").sub('"ledger"', '"/ledger/served"'),
      "config/cable.yml" => <<~YAML,
        production:
          adapter: carat
          through: solid_cable
          connects_to: { database: { writing: cable } }
          polling_interval: 0.1.seconds
      YAML
      "carat.rb" => <<~RUBY
        require "fileutils"
        File.open("/ledger/lock", File::CREAT | File::RDWR) do |lock|
          lock.flock(File::LOCK_EX)
          FileUtils.cp_r("seed", "#{SHARED}") unless Dir.exist?("#{SHARED}")
        end
        cable "/cable"
        process("cable", overlap: true) { Carat::Cable.relay }
        process("jobs", stop_timeout: "20s") { SolidQueue::Supervisor.start } unless ENV["JOBS"] == "none"
      RUBY
    }.freeze
    VARIABLES = { "SECRET_KEY_BASE" => "secret" * 10, "RAILS_LOG_LEVEL" => "warn" }.freeze
    SOCKETS = 20
    PAGE_PAUSE_SECONDS = 0.1
    ENTRY_PAUSE_SECONDS = 0.5
    SETTLE_SECONDS = 15
    private_constant :SHARED, :UP, :SOCKETS, :PAGE_PAUSE_SECONDS, :ENTRY_PAUSE_SECONDS, :SETTLE_SECONDS

    # Writes the application to a directory, for script/build_image. An image has no `storage`.
    def self.write(directory)
      FileUtils.mkdir_p(directory)
      JobsApp.write(directory, FILES)
      FileUtils.mv(File.join(directory, "storage"), File.join(directory, "seed"))
      File.write(File.join(directory, "Gemfile"), "gem \"carat\"\n", mode: "a")
    end

    # What became of requests, jobs, and messages. statuses, jobs: those accepted; ledger; heard: by each socket
    def self.compare(statuses, jobs, ledger, heard)
      failed = statuses.reject { |status| status.start_with?("2") }
      "#{statuses.size} requests, failed #{failed.size} #{failed.tally}; " \
        "#{jobs.size} jobs, lost #{(jobs - ledger).size}, twice #{ledger.size - ledger.uniq.size}; " \
        "#{jobs.size * heard.size} messages to #{heard.size} sockets, " \
        "lost #{heard.sum { |numbers| (jobs - numbers).size }}"
    end

    def initialize(app)
      @app = app
      @client = JobsClient.new(@app.port).tap { |client| client.tells = true }
    end

    # A rolling update of all pods.
    def run
      @app.apply(VARIABLES)
      listeners = CableListeners.new(@app.port, SOCKETS)
      @app.wait("subscriptions") { listeners.ready? }
      statuses, jobs = load do
        @app.set("RELEASE" => "2")
        @app.settled
      end
      @app.wait("jobs") { (jobs - ledger).empty? }
      sleep SETTLE_SECONDS
      puts "rolling update: #{self.class.compare(statuses, jobs, ledger, listeners.finish)}; " \
           "sockets closed #{listeners.disconnects}; restarts #{@app.restarts}"
    end

    private

    def ledger = @app.lines.map(&:to_i)

    # Returns the statuses of requests that clients made while the block ran, and the jobs that were accepted.
    def load
      over = false
      jobs = []
      pages = Thread.new { paced(PAGE_PAUSE_SECONDS, -> { over }) { @client.get("/posts") } }
      entries = Thread.new do
        paced(ENTRY_PAUSE_SECONDS, -> { over }) do |index|
          @client.enqueue(index + 1, 1).tap { |status| jobs << (index + 1) if status == "201" }
        end
      end
      yield
      over = true
      [pages.value + entries.value, jobs]
    ensure
      over = true
    end

    def paced(pause, over)
      results = []
      until over.call
        results << yield(results.size)
        sleep pause
      end
      results
    end
  end
end
