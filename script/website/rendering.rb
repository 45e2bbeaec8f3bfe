# frozen_string_literal: true

module Website
  # What the site shows as it is written, because its Markdown needs more spaces than GitHub's.
  class Rendering
    ARTICLE = %r{<article.*?</article>}m
    CODE = %r{<pre.*?</pre>|<code.*?</code>}m
    # Marks of lists, tables, and code that have become text.
    LEFT = /<p>\s*[*|-] |\n\d+\. |\|[ -]+\||\n```|\*\*|\]\(/

    # `folder` has the HTML.
    def initialize(folder)
      @folder = folder
    end

    # Returns a line for each page with such a mark.
    def problems
      Dir.glob("**/*.html", base: @folder).filter_map do |path|
        text = File.read(File.join(@folder, path))[ARTICLE].to_s.gsub(CODE, "")
        found = text[/.{0,60}#{LEFT}.{0,60}/m]
        "#{path}: not Markdown for the site: #{found.split.join(" ")}" if found
      end
    end
  end
end
