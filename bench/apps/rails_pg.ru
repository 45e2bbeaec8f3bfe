# frozen_string_literal: true

# A Rails application whose actions ask PostgreSQL (DATABASE_URL) one question: a quick one, or one that takes a second.
require "logger" # Rails 6.1 and 7.0 use it without saying so
require "active_record/railtie"
require "action_controller/railtie"

class Questions < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.eager_load = true
  config.hosts = nil
  config.secret_key_base = "secret" * 10
  config.logger = Logger.new($stdout)
  config.log_level = :error
  config.consider_all_requests_local = false
  routes.append do
    root to: "questions#one"
    get "sleep", to: "questions#sleep"
  end
end

class QuestionsController < ActionController::API
  def one
    render plain: ask("select 'one'")
  end

  def sleep
    render plain: ask("select 'slept' from pg_sleep(1)")
  end

  private

  def ask(sql)
    ActiveRecord::Base.connection_pool.with_connection { |connection| connection.select_value(sql) }
  end
end

Questions.initialize!
run Questions
