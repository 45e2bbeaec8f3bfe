# frozen_string_literal: true

module Support
  # The files of a Rails application that logs as Rails does: to log/development.log, unless `rails server` asks for
  # more. Each load of the application adds a line to the file `loads`.
  module RailsApp
    # Contents by relative path.
    FILES = {
      "bin/rails" => <<~'RUBY',
        APP_PATH = File.expand_path("../config/application", __dir__)
        require "rails/commands"
      RUBY
      "config/application.rb" => <<~'RUBY',
        require "logger"
        require "rails"
        require "action_controller/railtie"
        class Shop < Rails::Application
          config.eager_load = false
          config.secret_key_base = "secret" * 10
          config.hosts = nil
          config.log_level = ENV.fetch("RAILS_LOG_LEVEL", "debug").to_sym
        end
      RUBY
      "config/environment.rb" => <<~'RUBY',
        File.write("loads", "#{Process.pid}\n", mode: "a")
        require_relative "application"
        Rails.application.initialize!
      RUBY
      "config/routes.rb" => <<~'RUBY',
        Rails.application.routes.draw { get "/items/:id", to: "items#show" }
      RUBY
      "app/controllers/items_controller.rb" => <<~'RUBY',
        class ItemsController < ActionController::Base
          def show
            render plain: "item #{params[:id]} of #{Process.ppid} in #{Rails.env}"
          end
        end
      RUBY
      "log/.keep" => "",
      "config.ru" => <<~'RUBY'
        require_relative "config/environment"
        run Rails.application
      RUBY
    }.freeze
  end
end
