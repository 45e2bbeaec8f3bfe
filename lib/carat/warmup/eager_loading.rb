# frozen_string_literal: true

module Carat
  module Warmup
    # Before the fork, loads the routes and, unless the application reloads its code, all that Rails would autoload in
    # each worker. Autoloaders of libraries keep their own policy.
    module EagerLoading
      module_function

      # Warnings go to the ProcessLog `log`. Code that fails to load is left to the request that needs it.
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

      # In development, Rails 8 loads the routes at the first request. Other requests at that moment find none, and
      # get 404.
      def load_routes(application)
        application.reload_routes_unless_loaded if application.respond_to?(:reload_routes_unless_loaded)
      end

      # With `eager_load`, Rails has loaded the code; without `cache_classes`, it reloads changed files.
      def wanted?(config)
        config.cache_classes && !config.eager_load
      end

      private_class_method :rails, :load_routes, :wanted?
    end
  end
end
