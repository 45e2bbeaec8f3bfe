# frozen_string_literal: true

# A Rails application whose actions run one query on PostgreSQL (DATABASE_URL): a fast one, or one that takes a second.
require "logger" # Rails 6.1 and 7.0 use it without saying so
require "active_record/railtie"
require "action_controller/railtie"

class Queries < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.eager_load = true
  config.hosts = nil
  config.secret_key_base = "secret" * 10
  config.logger = Logger.new($stdout)
  config.log_level = :error
  config.consider_all_requests_local = false
  routes.append do
    root to: "queries#one"
    get "sleep", to: "queries#sleep"
  end
end

class QueriesController < ActionController::API
  def one
    render plain: query("select 'one'")
  end

  def sleep
    render plain: query("select 'slept' from pg_sleep(1)")
  end

  private

  def query(sql)
    ActiveRecord::Base.connection_pool.with_connection { |connection| connection.select_value(sql) }
  end
end

Queries.initialize!
run Queries
