# frozen_string_literal: true

module Bench
  # What is added to the application of JobsApp: a cache, uploads, and a channel of Action Cable.
  module WholeApp
    FILES = {
      "config/routes.rb" => <<~'RUBY',
        Rails.application.routes.draw do
          get "up" => "rails/health#show", as: :rails_health_check
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
          def tell(data) = ActionCable.server.broadcast("room", data["text"])
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
      "config/initializers/cable.rb" => <<~RUBY,
        Rails.application.config.action_cable.disable_request_forgery_protection = true
      RUBY
      # What Rails writes, but for the timeout: SQLite lets one process write at a time, and while the application
      # loads beside, a transaction may take longer than 5 s.
      "config/database.yml" => <<~YAML
        production:
          primary: &primary
            adapter: sqlite3
            max_connections: 5
            timeout: 20000
            database: storage/production.sqlite3
          cache: { <<: *primary, database: storage/production_cache.sqlite3, migrations_paths: db/cache_migrate }
          queue: { <<: *primary, database: storage/production_queue.sqlite3, migrations_paths: db/queue_migrate }
          cable: { <<: *primary, database: storage/production_cable.sqlite3, migrations_paths: db/cable_migrate }
      YAML
    }.freeze
    CARAT = { "config/cable.yml" => "production:\n  adapter: carat\n" }.freeze
    PUMA = { "config/cable.yml" => "production:\n  adapter: async\n", "config/puma.rb" => <<~RUBY }.freeze
      threads 3, 3
      plugin :solid_queue
      solid_queue_mode :async
    RUBY
    # Rails would enable YJIT in each process.
    NO_YJIT = { "config/initializers/yjit.rb" => "Rails.application.config.yjit = false\n" }.freeze
    WORKER_YJIT = { **NO_YJIT, "further.rb" => <<~RUBY }.freeze
      memory "94%"
      jit "auto"
      on_worker_boot { RubyVM::YJIT.enable(mem_size: 16) }
    RUBY
    # The set-up, and the files that it needs, by server: with Carat what `carat init` writes, and YJIT in no process
    # or in the worker; with Puma one process, the least that it can take.
    SETUPS = {
      "carat-t3" => ["carat-init", CARAT], "carat-t3-yjit" => ["carat-init", { **CARAT, **WORKER_YJIT }],
      "puma-t3" => ["puma-single", { **PUMA, **NO_YJIT }], "puma-t3-yjit" => ["puma-single", PUMA]
    }.freeze
    # The same with two workers and room for all: what Rails writes, where jobs tell no socket of themselves.
    TWO_WORKERS = { "carat-t3-w2" => ["carat", CARAT], "puma-t3-w2" => ["puma-plugin", {}] }.freeze

    # Runs the application with two workers as this server's, with Solid Queue in processes, and yields the JobsSetup.
    # Jobs take `job_seconds`.
    def self.with_two_workers(server, job_seconds:, &block)
      name, files = TWO_WORKERS.fetch(server)
      JobsSetup.run(name, jobs: "cable", files: FILES.except("app/jobs/entry_job.rb").merge(files),
                          env: { "JOB_SECONDS" => job_seconds }, &block)
    end
  end
end
