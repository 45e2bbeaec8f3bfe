# frozen_string_literal: true

require_relative "../../lib/carat/version"
require_relative "llms"
require_relative "pages"
require_relative "rendering"

# `main.rb pages` writes the pages that mkdocs reads; `main.rb finish` completes what it has written.
site = ENV.fetch("CARAT_SITE")
pages = Website::Pages.new(ENV.fetch("CARAT_REPOSITORY", Carat::REPOSITORY))
html = "target/site/html"

case ARGV.first
when "pages"
  begin
    pages.write("target/site/pages")
  rescue RuntimeError => e
    abort e.message
  end
when "finish"
  pages.paths.each { |path| File.write(File.join(html, path), pages.text(path)) }
  File.write(File.join(html, "llms.txt"), Website::LLMs.new(pages, site).to_s)
  problems = Website::Rendering.new(html).problems
  abort problems.join("\n") if problems.any?
  puts "#{pages.paths.size} pages in #{html}"
else abort "usage: script/site"
end
