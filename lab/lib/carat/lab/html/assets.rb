# frozen_string_literal: true

require "digest"

module Carat
  module Lab
    module Html
      # The scripts and the styles of every page. A page names their digests, and a browser runs nothing else.
      module Assets
        FOLDER = File.join(__dir__, "assets")
        LIBRARIES = %w[../vendor/uplot.min.js ../vendor/d3-hierarchy.min.js ../vendor/d3-selection.min.js].freeze
        SCRIPTS = %w[format.js line_plot.js tree.js icicle.js tree_table.js page.js].freeze
        STYLES = %w[../vendor/uplot.min.css page.css].freeze
        private_constant :FOLDER, :LIBRARIES, :SCRIPTS, :STYLES

        module_function

        # Returns the script. Its names are its own, so that none of them hides one of the browser's.
        def script
          "#{read(LIBRARIES)}\n(() => {\n#{read(SCRIPTS)}\n})();\n"
        end

        # Returns the style sheet.
        def style
          read(STYLES)
        end

        # Returns the Content-Security-Policy: no network, no other script, and no text that becomes a script.
        def policy
          "default-src 'none'; script-src '#{digest(script)}'; style-src '#{digest(style)}'; base-uri 'none'; " \
            "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        end

        def read(names)
          names.map { |name| File.read(File.join(FOLDER, name), encoding: Encoding::UTF_8) }.join("\n")
        end

        def digest(text)
          "sha256-#{[Digest::SHA256.digest(text)].pack("m0")}"
        end
        private_class_method :read, :digest
      end
    end
  end
end
