# frozen_string_literal: true

require "etc"
require "shellwords"
require "carat/version"
require_relative "assets"
require_relative "line_plot"
require_relative "markup"

module Carat
  module Lab
    # Reports as pages for a browser.
    module Html
      # A report as one file: text, tables, and plots, with everything that draws them. It opens without a network, and
      # nothing in its data can become markup or a script.
      class Page
        # `lead` is the sentence that matters most, `remarks` those below it; `facts` is a Hash of text by name.
        def initialize(title, lead:, remarks: [], facts: {})
          @title = title
          @lead = lead
          @remarks = remarks
          @facts = { **origin, **facts }
          @sections = []
        end

        # Adds a section of parts: LinePlots, TreePlots, Tables, and Strings, which are paragraphs.
        def section(heading, *parts)
          @sections << [heading, parts]
        end

        # Returns the HTML.
        def to_s
          <<~HTML
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="#{Assets.policy}">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>#{Markup.text(@title)} - #{Markup.text(File.basename(Dir.pwd))}</title>
            <style>#{Assets.style}</style></head>
            <body><header><h1>#{Markup.text(@title)}</h1><p class="lead">#{Markup.text(@lead)}</p>
            #{@remarks.map { |remark| paragraph(remark) }.join}#{facts}</header>
            <main>#{@sections.map { |heading, parts| describe(heading, parts) }.join}</main>
            <footer>Carat #{VERSION}</footer>
            <script>#{Assets.script}</script></body></html>
          HTML
        end

        private

        # When, how, and where the page was made: reports are kept and compared.
        def origin
          machine = Etc.uname.values_at(:nodename, :sysname, :release, :machine).join(" ")
          { "date" => Time.now.strftime("%F %T %z"), "command" => ["carat", *ARGV].shelljoin, "directory" => Dir.pwd,
            "Ruby" => RUBY_DESCRIPTION, "machine" => "#{machine}, #{Etc.nprocessors} processors" }
        end

        def facts
          return if @facts.empty?

          pairs = @facts.map { |name, text| "<div><dt>#{Markup.text(name)}</dt><dd>#{Markup.text(text)}</dd></div>" }
          "<dl>#{pairs.join}</dl>"
        end

        def paragraph(text)
          "<p>#{Markup.text(text)}</p>"
        end

        # Line plots that follow one another stand side by side.
        def describe(heading, parts)
          groups = parts.chunk_while { |left, right| [left, right].all?(LinePlot) }
          "<section><h2>#{Markup.text(heading)}</h2>#{groups.map { |group| arrange(group) }.join}</section>\n"
        end

        def arrange(group)
          case group.first
          when LinePlot then "<div class=\"grid\">#{group.join}</div>"
          when String then group.map { |text| paragraph(text) }.join
          else group.join
          end
        end
      end
    end
  end
end
