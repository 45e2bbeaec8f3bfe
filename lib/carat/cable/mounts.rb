# frozen_string_literal: true

require_relative "../cable"

module Carat
  module Cable
    # The routes of the application that lead to Action Cable.
    module Mounts
      # Engines in each other.
      DEPTH_LIMIT = 8
      private_constant :DEPTH_LIMIT

      module_function

      # Returns their paths, none without Rails' routes.
      def paths
        application = ::Rails.application if defined?(::Rails.application)
        return [] unless application

        application.reload_routes_unless_loaded if application.respond_to?(:reload_routes_unless_loaded)
        below("", application.routes, DEPTH_LIMIT)
      end

      # Whether Rails takes two paths for the same.
      def same?(path, other)
        [path, other].map { |it| it.split("/").reject(&:empty?) }.uniq.one?
      end

      def below(prefix, routes, depth)
        routes.routes.flat_map do |route|
          target = route.app.is_a?(::ActionDispatch::Routing::Endpoint) ? route.app.app : route.app
          path = prefix + route.path.spec.to_s.delete_suffix("(.:format)")
          next [path] if target.equal?(::ActionCable.server)

          depth.positive? && target.respond_to?(:routes) ? below(path, target.routes, depth - 1) : []
        end
      end
      private_class_method :below
    end
  end
end
