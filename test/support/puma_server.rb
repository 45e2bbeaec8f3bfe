# frozen_string_literal: true

require_relative "server"

module Support
  # Puma in the place of Carat, to compare the two.
  class PumaServer < Server
    # @param options see ServerOptions::DEFAULTS
    def initialize(**options)
      super(flags: false, command: [RbConfig.ruby, "-S", "puma"],
            args: %w[--config - --threads 2:2 --bind tcp://127.0.0.1:0], **options)
    end

    private

    def listener
      /^\* Listening on (\S+)/
    end
  end
end
