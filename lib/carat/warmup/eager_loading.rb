# frozen_string_literal: true

module Carat
  module Warmup
    # Loads code before the fork: the routes and, unless the application reloads its code, all that Rails would autoload
    # in each worker. Autoloaders of libraries keep their own policy.
    module EagerLoading
      module_function

      # Loads the code of a Rails application. Warnings go to the ProcessLog `log`. A file that fails to load raises
      # again in the request that needs it.
      def run(log:)
        return unless (application = rails)

        load_routes(application)
        application.config.eager_load_namespaces.each(&:eager_load!) if wanted?(application.config)
      rescue StandardError, ScriptError => e
        log.failure("cannot load the whole application before the fork", e)
      end

      # Returns the initialized application, or nil.
      def rails
        application = ::Rails.application if defined?(::Rails.application)
        application if application&.initialized?
      end

      # Loads the routes. In development, Rails 8 would load them at the first request; other requests at that moment
      # would find no routes and get 404.
      def load_routes(application)
        application.reload_routes_unless_loaded if application.respond_to?(:reload_routes_unless_loaded)
      end

      # Whether to load the code. With `eager_load`, Rails has loaded it already; without `cache_classes`, Rails reloads
      # changed files.
      def wanted?(config)
        config.cache_classes && !config.eager_load
      end

      private_class_method :rails, :load_routes, :wanted?
    end
  end
end
