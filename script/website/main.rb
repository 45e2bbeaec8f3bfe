# frozen_string_literal: true

require_relative "../../lib/carat/version"
require_relative "llms"
require_relative "pages"
require_relative "rendering"
require_relative "tree"

# `main.rb pages` writes the pages that mkdocs reads; `main.rb finish` completes what it has written. `main.rb versions`
# builds all versions.
site = ENV.fetch("CARAT_SITE")
revision = ENV.fetch("CARAT_REVISION", Website::Versions::UNRELEASED)
pages = Website::Pages.new(ENV.fetch("CARAT_REPOSITORY", Carat::REPOSITORY), revision)
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
when "versions"
  tree = "target/site/versions"
  versions = Website::Versions.new(`git tag`.split)
  begin
    Website::Tree.new(tree, site, versions).build
  rescue RuntimeError => e
    abort e.message
  end
  puts "#{versions.list.map(&:name).join(", ")} in #{tree}"
else abort "usage: script/site [versions]"
end
