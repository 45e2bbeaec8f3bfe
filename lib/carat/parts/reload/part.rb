# frozen_string_literal: true

require_relative "../part"
require_relative "../../log/plain_json"

module Carat
  module Parts
    # Reloading for development: the server loads changed source files before the next request.
    module Reload
      # The options of the part, and the methods that the server calls.
      class Part < Parts::Part
        option :reload, key: :enabled, group: "Processes", type: :boolean, default: false, in_development: true,
                        edge: true, mold: true,
                        doc: "Whether changed source files are loaded before the next request, for development."

        # Tells the edge which files are read before the application is loaded.
        def before_load(control, configuration)
          name_sources(control, configuration, &:before_load)
        end

        # Tells the edge which files the loaded application consists of.
        def loaded(control, configuration)
          name_sources(control, configuration, &:loaded)
        end

        private

        # Sends the edge the files that the block returns for the SourceFiles.
        def name_sources(control, configuration)
          return unless configuration[:reload]

          require_relative "source_files"
          @sources ||= SourceFiles.new(configuration[:rackup], configuration.config_path)
          control.sources(Log::PlainJSON.generate(yield(@sources)))
        end
      end
    end
  end
end
