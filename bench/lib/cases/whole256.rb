# frozen_string_literal: true

require "tempfile"

module Bench
  # A whole Rails application in a control group of 256 MB: pages with a cache, uploads, jobs, and sockets of Action
  # Cable that hear of each job, through three restarts. It takes a minute, or a longer --duration.
  module Whole256
    LIMIT_MB = 256
    SECONDS = 60
    SOCKETS = 100
    RESTARTS = 3
    # Of each client, and of jobs, a second.
    PAGES = 1.5
    JOBS = 2
    CLIENTS = 4
    UPLOAD_BYTES = 5 << 20
    UPLOAD_PAUSE_SECONDS = 5
    # Lines of the server's log that may explain a failed request, and how many of them are told.
    LOGGED = / warn | error |Error|Exception/
    LOGGED_LINES = 60

    def self.call(spec, options)
      name, files = WholeApp::SETUPS.fetch(spec.name)
      Cgroup.make(LIMIT_MB << 20) do |cgroup|
        JobsSetup.run(name, wrap: cgroup.method(:wrap), files: WholeApp::FILES.merge(files)) do |setup|
          listeners = CableListeners.new(setup.port, SOCKETS)
          setup.wait("subscriptions", 60) { listeners.ready? }
          anonymous = []
          load = Repeat.beside(-> { anonymous << cgroup.anonymous }, every: 1) { load(setup, seconds(options)) }
          ledger = JobsLimit.await(setup, load[:jobs])
          heard = listeners.finish
          explain(setup, load[:statuses] + load[:uploads])
          outcome(load, ledger, heard).merge(kills: cgroup.kills, disconnects: listeners.disconnects,
                                             most_mb: Number.mb(anonymous.max), **weight(setup))
        end
      end
    end

    # Says what the server has logged when requests have failed; JobsSetup has said which.
    def self.explain(setup, statuses)
      return if statuses.all? { |status| status.to_i / 100 == 2 }

      warn(File.readlines(setup.path("output")).grep(LOGGED).last(LOGGED_LINES))
    end

    def self.seconds(options) = [SECONDS, options.duration].max

    # What all processes weigh, and each, in MB.
    def self.weight(setup)
      each = setup.members.map { |member| [member.title[/edge|mold|worker|solid-queue|puma/], member.memory.pss] }
      { pss_mb: Number.mb(each.sum(&:last)),
        roles: each.map { |name, bytes| "#{name} #{Number.decimals(Number.mb(bytes), 0)}" }.join(", ") }
    end

    def self.load(setup, seconds)
      give_up = Bench.now + seconds
      pages = Array.new(CLIENTS) { Thread.new { pages(setup, give_up) } }
      uploads = Thread.new { uploads(setup, give_up) }
      restarts = Thread.new { restarts(setup, seconds) }
      jobs = []
      accepts = JobsLimit.paced(give_up, 1) do |index|
        from = (index * JOBS) + 1
        setup.enqueue(from, JOBS).tap { |status| jobs.concat((from...(from + JOBS)).to_a) if status == "201" }
      end
      pages = pages.flat_map(&:value)
      { statuses: pages.map(&:first) + accepts, longest: pages.map(&:last).max, uploads: uploads.value,
        restarts: restarts.value, jobs: jobs }
    end

    # The status of each, and how many seconds it took.
    def self.pages(setup, give_up)
      JobsLimit.paced(give_up, 1.0 / PAGES) do |index|
        begun = Bench.now
        [setup.get(index.even? ? "/posts" : "/cached/#{index % 50}"), Bench.now - begun]
      end
    end

    def self.uploads(setup, give_up)
      Tempfile.create("upload") do |file|
        file.write("x" * UPLOAD_BYTES)
        JobsLimit.paced(give_up, UPLOAD_PAUSE_SECONDS) { setup.exchange(upload(file.tap(&:rewind))) }
      end
    end

    def self.upload(file)
      Net::HTTP::Post.new("/files", JobsClient::HEADERS).tap do |request|
        request.set_form([["file", file]], "multipart/form-data")
      end
    end

    # Returns how many seconds each took that succeeded.
    def self.restarts(setup, seconds)
      Array.new(RESTARTS) do
        sleep seconds / (RESTARTS + 1)
        begun = Bench.now
        setup.restart
        Bench.now - begun
      rescue Failure => e
        warn(e.message)
        nil
      end.compact
    end

    def self.outcome(load, ledger, heard)
      jobs = load[:jobs]
      { requests: load[:statuses].size, longest: load[:longest],
        failed: load[:statuses].count { |status| status.to_i / 100 != 2 },
        uploads: load[:uploads].size, uploads_failed: load[:uploads].count { |status| status != "200" },
        restarts: load[:restarts].size, restart_seconds: load[:restarts].max || 0, jobs: jobs.size,
        jobs_lost: (jobs - ledger).size, jobs_twice: ledger.size - ledger.uniq.size, messages: jobs.size * SOCKETS,
        messages_lost: heard.sum { |numbers| (jobs - numbers).size } }
    end

    private_class_method :explain, :seconds, :weight, :load, :pages, :uploads, :upload, :restarts, :outcome

    CASES = [
      Case.new(
        name: "whole256", title: "A whole Rails application in 256 MB", once: true,
        servers: WholeApp::SETUPS.keys,
        measure: method(:call), needs: -> { JobsApp.obstacle || Cgroup.obstacle },
        columns: [
          *Column.requests, Column.new("uploads", :uploads),
          Column.new("failed uploads", :uploads_failed, target: Target.at_most(0)), Column.new("restarts", :restarts),
          Column.new("took s at most", :restart_seconds, places: 1),
          Column.new("longest request s", :longest, places: 1),
          Column.new("jobs", :jobs), Column.new("lost jobs", :jobs_lost, target: Target.at_most(0)),
          Column.new("jobs twice", :jobs_twice), Column.new("messages", :messages),
          Column.new("lost messages", :messages_lost, target: Target.at_most(0)),
          Column.new("disconnects", :disconnects),
          Column.new("killed", :kills, target: Target.at_most(0)),
          Column.new("anonymous MB at most", :most_mb, places: 1, target: Target.at_most(LIMIT_MB)),
          Column.new("PSS MB at the end", :pss_mb, places: 1), Column.text("of that") { |row| row.values(:roles).last }
        ]
      )
    ].freeze
  end
end
