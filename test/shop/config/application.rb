# frozen_string_literal: true

require "logger"
require "rails"
require "active_record/railtie"
require "active_storage/engine"
require "action_controller/railtie"
require "action_view/railtie"

module Shop
  # An application as `rails new` makes it, for Rails 6.1 and later.
  class Application < Rails::Application
    config.load_defaults Rails::VERSION::STRING.to_f
    config.secret_key_base = "secret" * 10
    config.active_storage.service = :local
    config.active_storage.analyzers = []
    config.active_storage.variant_processor = :disabled if Rails.version >= "7.2"
    # Rails 8.2 looks at Sec-Fetch-Site only, and at nothing over plain HTTP.
    if Rails.version >= "8.2"
      config.action_controller.forgery_protection_verification_strategy = :header_or_legacy_token
    end
    config.log_tags = [:request_id]
    config.log_level = ENV.fetch("RAILS_LOG_LEVEL", "info").to_sym
    config.after_initialize { load Rails.root.join("db/tables.rb") }
  end
end
