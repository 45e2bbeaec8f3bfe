# frozen_string_literal: true

require_relative "../response/error_report"

module Carat
  module Warmup
    # Loads before the fork what Rails would load in each worker, where the application does not reload its code anyway.
    # Loaders of libraries are left alone: they know what they want to have loaded.
    module EagerLoading
      module_function

      # `log` is where words for the operator go; what does not load is left to the request that needs it.
      def run(log: $stderr)
        application = rails
        return unless application && wanted?(application.config)

        application.config.eager_load_namespaces.each(&:eager_load!)
      rescue StandardError, ScriptError => e
        log.write("carat: mold: not all of the application can be loaded ahead: #{Response::ErrorReport.new(e)}")
      end

      # The application that has booted, or nil.
      def rails
        application = ::Rails.application if defined?(::Rails.application)
        application if application&.initialized?
      end

      # With `eager_load` Rails has done it; without `cache_classes` it looks for changed files, and loads again.
      def wanted?(config)
        config.cache_classes && !config.eager_load
      end

      private_class_method :rails, :wanted?
    end
  end
end
