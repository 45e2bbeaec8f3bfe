# frozen_string_literal: true

require_relative "output_file"

module Carat
  module CLI
    # The flags of subcommands that print a report as text or JSON, and write a page.
    module OutputFlags
      private

      # Defines `--json` and `--html`.
      def define_output(parser)
        parser.on("--json", "Print JSON, sizes in bytes") { @json = true }
        OutputFile.flag(parser) { |file| @html = file }
      end
    end
  end
end
