# frozen_string_literal: true

require "tempfile"

module Bench
  # A whole Rails application in a control group of 256 MB: pages with a cache, uploads, jobs, and sockets of Action
  # Cable that hear of each job, through three restarts. Carat runs what `carat init` writes there, Puma one process,
  # both without YJIT.
  module Whole256
    LIMIT_MB = 256
    SECONDS = 600
    QUICK_SECONDS = 40
    SOCKETS = 100
    RESTARTS = 3
    # Of each client, and of jobs, a second.
    PAGES = 5
    JOBS = 5
    CLIENTS = 4
    UPLOAD_BYTES = 5 << 20
    UPLOAD_PAUSE_SECONDS = 2
    FILES = {
      "config/routes.rb" => <<~'RUBY',
        Rails.application.routes.draw do
          resources :posts
          post "/entries", to: "entries#create"
          get "/state", to: "entries#state"
          get "/cached/:id", to: "files#cached"
          post "/files", to: "files#create"
        end
      RUBY
      "app/controllers/files_controller.rb" => <<~'RUBY',
        class FilesController < ActionController::Base
          skip_forgery_protection
          def cached
            render plain: Rails.cache.fetch("titles/#{params[:id]}", expires_in: 10) { Post.pluck(:title).join(",") }
          end

          def create = render(plain: Digest::SHA256.file(params[:file].path).hexdigest)
        end
      RUBY
      "app/channels/room_channel.rb" => <<~'RUBY',
        class RoomChannel < ActionCable::Channel::Base
          def subscribed = stream_from("room")
        end
      RUBY
      "app/jobs/entry_job.rb" => <<~'RUBY',
        class EntryJob < ActiveJob::Base
          def perform(number)
            sleep 0.1
            File.write("ledger", "#{number}\n", mode: "a")
            ActionCable.server.broadcast("room", "n#{number}")
          end
        end
      RUBY
      "config/initializers/cable.rb" => <<~RUBY
        Rails.application.config.action_cable.disable_request_forgery_protection = true
      RUBY
    }.freeze
    # The set-up, and the files that it needs, by server.
    SETUPS = {
      "carat-t3" => ["carat-init", { "config/cable.yml" => "production:\n  adapter: carat\n" }],
      "puma-t3" => ["puma-single", { "config/cable.yml" => "production:\n  adapter: async\n",
                                     "config/initializers/yjit.rb" => "Rails.application.config.yjit = false\n",
                                     "config/puma.rb" => <<~RUBY }]
                                       threads 3, 3
                                       plugin :solid_queue
                                       solid_queue_mode :async
                                     RUBY
    }.freeze

    def self.call(spec, options)
      name, files = SETUPS.fetch(spec.name)
      Cgroup.make(LIMIT_MB << 20) do |cgroup|
        JobsSetup.run(name, wrap: cgroup.method(:wrap), files: FILES.merge(files)) do |setup|
          listeners = CableListeners.new(setup.port, SOCKETS)
          setup.wait("subscriptions", 60) { listeners.ready? }
          anonymous = []
          load = Repeat.beside(-> { anonymous << cgroup.anonymous }, every: 1) do
            load(setup, options.quick ? QUICK_SECONDS : SECONDS)
          end
          ledger = JobsLimit.await(setup, load[:jobs])
          heard = listeners.finish
          warn(setup.members.map { |member| [member.title[0, 60], Number.mb(member.memory.pss).round(1)].join(" ") })
          outcome(load, ledger, heard).merge(kills: cgroup.kills, disconnects: listeners.disconnects,
                                             most_mb: Number.mb(anonymous.max))
        end
      end
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
      { statuses: pages.flat_map(&:value) + accepts, uploads: uploads.value, restarts: restarts.value, jobs: jobs }
    end

    def self.pages(setup, give_up)
      JobsLimit.paced(give_up, 1.0 / PAGES) { |index| setup.get(index.even? ? "/posts" : "/cached/#{index % 50}") }
    end

    def self.uploads(setup, give_up)
      Tempfile.create("upload") do |file|
        file.write("x" * UPLOAD_BYTES)
        JobsLimit.paced(give_up, UPLOAD_PAUSE_SECONDS) { setup.exchange(upload(file.tap(&:rewind))) }
      end
    end

    def self.upload(file)
      Net::HTTP::Post.new("/files", JobsSetup::HEADERS).tap do |request|
        request.set_form([["file", file]], "multipart/form-data")
      end
    end

    # How many succeeded.
    def self.restarts(setup, seconds)
      Array.new(RESTARTS) do
        sleep seconds / (RESTARTS + 1)
        setup.plain? ? setup.signal(:USR2) : setup.carat("restart")
      rescue Failure => e
        warn(e.message)
        nil
      end.compact.size
    end

    def self.outcome(load, ledger, heard)
      jobs = load[:jobs]
      { requests: load[:statuses].size, failed: load[:statuses].count { |status| status.to_i / 100 != 2 },
        uploads: load[:uploads].size, uploads_failed: load[:uploads].count { |status| status != "200" },
        restarts: load[:restarts], jobs: jobs.size, jobs_lost: (jobs - ledger).size,
        jobs_twice: ledger.size - ledger.uniq.size, messages: jobs.size * SOCKETS,
        messages_lost: heard.sum { |numbers| (jobs - numbers).size } }
    end

    private_class_method :load, :pages, :uploads, :upload, :restarts, :outcome

    CASES = [
      Case.new(
        name: "whole256", title: "A whole Rails application in 256 MB", once: true, servers: %w[carat-t3 puma-t3],
        measure: method(:call), needs: -> { JobsApp.obstacle || Cgroup.obstacle },
        columns: [
          *Column.requests, Column.new("uploads", :uploads),
          Column.new("failed", :uploads_failed, target: Target.at_most(0)), Column.new("restarts", :restarts),
          Column.new("jobs", :jobs), Column.new("lost", :jobs_lost, target: Target.at_most(0)),
          Column.new("twice", :jobs_twice), Column.new("messages", :messages),
          Column.new("lost", :messages_lost, target: Target.at_most(0)), Column.new("disconnects", :disconnects),
          Column.new("killed", :kills, target: Target.at_most(0)),
          Column.new("anonymous MB at most", :most_mb, places: 1, target: Target.at_most(LIMIT_MB))
        ]
      )
    ].freeze
  end
end
