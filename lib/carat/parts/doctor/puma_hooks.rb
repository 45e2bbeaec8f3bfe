# frozen_string_literal: true

require_relative "elsewhere"
require_relative "finding"

module Carat
  module CLI
    class Doctor
      # Checks for libraries that start in workers only by a hook of Puma, and so never start under Carat.
      class PumaHooks
        # A line of code that adds a block to Puma's hook for the boot of a worker.
        HOOK = /^[^#\n]*\b(?:before|on)_worker_boot\]? ?(?:[({]|do\b|<<|(?:\|\|)?=)/
        # The files of Puma itself, and of libraries that Carat starts in place of Puma.
        KNOWN = %r{/puma-[^/]+/|/(?:lib|vendor_ruby)/puma[/.]|scout_apm/server_integrations/}
        OURS = File.expand_path("../../..", __dir__)
        private_constant :HOOK, :KNOWN, :OURS

        def initialize(configuration)
          @application = Elsewhere.new(configuration)
        end

        # Returns the Finding.
        def finding
          before = $LOADED_FEATURES.dup
          hooks = @application.call { hooks_in($LOADED_FEATURES - before) } || []
          return Finding.ok("puma hooks", "no library waits for a hook of Puma") if hooks.empty?

          Finding.warning("puma hooks", "only Puma runs these; write what they call into carat.rb, as " \
                                        "`on_worker_boot { ... }` (docs/monitoring.md): #{hooks.join("; ")}")
        end

        private

        def hooks_in(features)
          files = features.select { |path| path.end_with?(".rb") && path.start_with?("/") }
          files.reject { |path| path.start_with?(OURS) || KNOWN.match?(path) }.filter_map { |path| hook(path) }
        end

        def hook(path)
          text = File.read(path, encoding: Encoding::BINARY)
          match = text.include?("Puma") && HOOK.match(text) or return
          "#{path}:#{match.pre_match.count("\n") + 1}"
        rescue SystemCallError
          nil
        end
      end
    end
  end
end
