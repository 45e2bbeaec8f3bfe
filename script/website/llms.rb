# frozen_string_literal: true

module Website
  # The list of the pages for language models (llmstxt.org), from the table of docs/README.md.
  class LLMs
    INDEX = "docs/README.md"
    ROW = /^\| (?<purpose>[^|]+?) \| \[[^\]]+\]\((?<target>[^)#]+)\) \|$/
    private_constant :INDEX, :ROW

    # `pages` are Pages, `site` is the address of the site with a slash at its end.
    def initialize(pages, site)
      @pages = pages
      @site = site
    end

    # Returns the text of llms.txt.
    def to_s
      tagline, about = @pages.text("README.md").split("\n\n").drop(1)
      ["# Carat", "> #{tagline}", about.tr("\n", " "), "## Pages", rows.join("\n")].join("\n\n") << "\n"
    end

    private

    def rows
      @pages.text(INDEX).scan(ROW).filter_map do |purpose, target|
        path = File.expand_path(target, "/#{File.dirname(INDEX)}").delete_prefix("/")
        "- [#{title(path)}](#{@site}#{path}): #{purpose}" if @pages.paths.include?(path)
      end
    end

    def title(path)
      @pages.text(path)[/^# (.+)/, 1].delete("`")
    end
  end
end
