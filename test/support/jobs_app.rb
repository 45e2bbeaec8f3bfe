# frozen_string_literal: true

module Support
  # The files of a Rails application with Solid Queue. POST /entries?from=1&count=9 enqueues jobs, by=Sidekiq for
  # Sidekiq; each writes its number to the file `ledger` at its end. GET /state tells how many of Solid Queue's are in
  # which state.
  module JobsApp
    # What works in any Rails application, by relative path.
    JOBS = {
      "config/routes.rb" => <<~'RUBY',
        Rails.application.routes.draw do
          resources :posts
          post "/entries", to: "entries#create"
          get "/state", to: "entries#state"
        end
      RUBY
      "app/controllers/entries_controller.rb" => <<~'RUBY',
        class EntriesController < ActionController::Base
          skip_forgery_protection

          def create
            from = Integer(params[:from])
            numbers = from...(from + Integer(params[:count]))
            if params[:by] == "Sidekiq"
              EntrySidekiqJob.perform_bulk(numbers.map { |number| [number] })
            else
              numbers.each { |number| EntryJob.perform_later(number) }
            end
            head :created
          end

          def state
            executions = { ready: SolidQueue::ReadyExecution, claimed: SolidQueue::ClaimedExecution,
                           failed: SolidQueue::FailedExecution }
            render json: executions.transform_values(&:count)
          end
        end
      RUBY
      "app/jobs/entry_job.rb" => <<~'RUBY'
        class EntryJob < ActiveJob::Base
          def perform(number)
            sleep Float(ENV.fetch("JOB_SECONDS", "0.1"))
            File.write("ledger", "#{number}\n", mode: "a")
          end
        end
      RUBY
    }.freeze

    # Contents by relative path.
    FILES = {
      **JOBS,
      "config/application.rb" => <<~'RUBY',
        require "logger"
        require "rails"
        require "active_record/railtie"
        require "active_job/railtie"
        require "action_controller/railtie"
        require "solid_queue"
        class Jobs < Rails::Application
          config.load_defaults 8.1
          config.eager_load = true
          config.secret_key_base = "secret" * 10
          config.hosts = nil
          config.logger = Logger.new("rails.log")
          config.active_job.queue_adapter = :solid_queue
          config.solid_queue.logger = config.logger
          config.solid_queue.shutdown_timeout = 20
        end
      RUBY
      "config/environment.rb" => <<~'RUBY',
        require_relative "application"
        Rails.application.initialize!
        lock = File.open("schema.lock", File::CREAT | File::RDWR)
        lock.flock(File::LOCK_EX)
        unless ActiveRecord::Base.connection.table_exists?("solid_queue_jobs")
          ActiveRecord::Schema.verbose = false
          load File.join(Gem.loaded_specs.fetch("solid_queue").full_gem_path,
                         "lib/generators/solid_queue/install/templates/db/queue_schema.rb")
        end
        lock.close
      RUBY
      "config/database.yml" => <<~YAML,
        <%= ENV.fetch("RAILS_ENV", "development") %>:
          adapter: sqlite3
          database: jobs.sqlite3
          max_connections: 10
          timeout: 20000
      YAML
      "config/queue.yml" => <<~YAML,
        <%= ENV.fetch("RAILS_ENV", "development") %>:
          dispatchers:
            - polling_interval: 0.2
          workers:
            - queues: "*"
              threads: 3
              polling_interval: 0.05
      YAML
      "config.ru" => <<~'RUBY'
        require_relative "config/environment"
        run Rails.application
      RUBY
    }.freeze

    # The process of the config file: several processes, the same with two supervisors for a moment, or several threads.
    CONFIG = 'process("jobs", stop_timeout: "30s") { SolidQueue::Supervisor.start }'
    OVERLAP = 'process("jobs", overlap: true, stop_timeout: "30s") { SolidQueue::Supervisor.start }'
    ASYNC = 'process("jobs", stop_timeout: "30s") { SolidQueue::Supervisor.start(mode: :async) }'
  end
end
