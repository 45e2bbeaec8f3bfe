# frozen_string_literal: true

require_relative "../../part"

module Carat
  module Parts
    # Changed source files that are loaded before the next request.
    class Reload < Part
      option :reload, key: :enabled, group: "Processes", type: :boolean, default: false, in_development: true,
                      edge: true, mold: true,
                      doc: "Whether changed source files are loaded before the next request, for development."
    end
  end
end
