# frozen_string_literal: true

require_relative "../../part"

module Carat
  module Parts
    # Public responses of the application that the edge keeps.
    class Cache < Part
      option :cache, key: :limit, group: "Responses", type: :bytes, within: MIB.., edge: true, default_text: "off",
                     doc: "Memory for public responses of the application, which further requests get; at least 1 MiB."
    end
  end
end
