# frozen_string_literal: true

require_relative "../../config/config_error"

module Carat
  module CLI
    class Init
      # The application in the working directory, as its files describe it. No code of the application runs.
      class Application
        RACKUP = "config.ru"
        HEALTH = /^[^#\n]*get\s*\(?\s*["']([\w\/-]+)["']\s*(?:=>|,\s*to:)\s*["']rails\/health#show["']/
        private_constant :HEALTH, :RACKUP

        # Raises ConfigError when there is no application.
        def initialize
          return if File.file?(RACKUP)

          raise Config::ConfigError, "there is no #{RACKUP} here: run carat init in the directory of the application"
        end

        # Returns the kind of application in words.
        def name
          return "a Rails application" if rails?

          sinatra? ? "a Sinatra application" : "a Rack application"
        end

        # Whether this is a Rails application.
        def rails?
          File.file?("config/application.rb") && File.file?("config/environment.rb")
        end

        # Returns the path of the health check of Rails 7.1 and later, such as `/up`, or nil when no route leads to it.
        def health_path
          path = read("config/routes.rb")[HEALTH, 1]
          "/#{path.delete_prefix("/")}" if path
        end

        # Whether the application has a directory of static files.
        def public?
          File.directory?("public")
        end

        # Whether the application's bundle has Solid Queue.
        def solid_queue?
          read("Gemfile").match?(/^\s*gem\s*\(?\s*["']solid_queue["']/)
        end

        # Whether the application uses a relational database.
        def database?
          File.file?("config/database.yml")
        end

        # Returns the content of a file, or an empty String when there is no file.
        def read(path)
          File.file?(path) ? File.binread(path) : ""
        end

        private

        def sinatra?
          [RACKUP, "Gemfile"].any? { |path| /\bsinatra\b/i.match?(read(path)) }
        end
      end
    end
  end
end
