# frozen_string_literal: true

require "test_helper"
require "set"

# The links between the project's pages lead somewhere.
class DocsLinksTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  PAGES = Dir.glob("{*.md,.github/**/*.md,docs/**/*.md,examples/**/*.md,lab/*.md,lab/docs/*.md}", base: ROOT).freeze
  CODE = /^```.*?^```|`[^`\n]*`/m
  LINK = /\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/

  def test_every_relative_link_leads_to_a_file
    broken = links.reject { |page, target, _| File.exist?(File.join(ROOT, path(page, target))) }

    assert_empty broken
  end

  def test_every_anchor_names_a_heading
    broken = links.reject do |page, target, anchor|
      to = path(page, target)
      anchor.nil? || !to.end_with?(".md") || anchors(to).include?(anchor)
    end

    assert_empty broken
  end

  def test_every_page_of_docs_can_be_reached_from_the_index
    next_pages = links.map { |page, target, _| [page, path(page, target)] }.group_by(&:first)
    reached = Set.new
    queue = ["docs/README.md"]
    while (page = queue.shift)
      queue.concat(next_pages.fetch(page, []).map(&:last)) if reached.add?(page)
    end

    assert_empty PAGES.grep(%r{\A(lab/)?docs/}) - reached.to_a
  end

  def test_no_page_is_longer_than_its_budget
    lines = Hash.new(250).merge("decisions" => 60, "quickstart" => 70)
    budgets = PAGES.grep(%r{\A(lab/)?docs/}).to_h { |page| [page, lines[page.split("/")[1]]] }
    budgets["README.md"] = 140

    assert_empty budgets.select { |page, budget| read(page).lines.size > budget }
  end

  def test_a_newcomer_can_read_all_decisions
    assert_operator PAGES.grep(%r{\Adocs/decisions/}).size, :<=, 25
  end

  def test_every_page_that_the_code_names_is_there
    folders = "{.ci,bench,crates,exe,ext,lab,lib,script,test}"
    named = Dir.glob("#{folders}/**/*.{rb,rs,toml,sh}", base: ROOT).flat_map do |file|
      read(file).scan(%r{\b(?:lab/)?docs/[\w./-]+?\.md\b}).map { |page| [file, page] }
    end

    assert_empty named.reject { |_, page| File.exist?(File.join(ROOT, page)) }
  end

  # Folders with a slash at their end, files without one.
  def test_every_path_that_the_maps_name_is_there
    maps = %w[CONTRIBUTING.md docs/architecture.md docs/code-map.md]
    named = maps.flat_map do |page|
      paths = read(page).scan(%r{`((?:bench|crates|examples|ext|lab|lib|script|test)/[\w./-]+)}).flatten
      paths.map { |path| [page, path] }
    end

    assert_empty named.reject { |_, path| File.exist?(File.join(ROOT, path)) }
  end

  # "`crates/a/src/b.rs`: `B::c`, `d`" says that c and d are in that file.
  def test_every_name_that_the_code_map_mentions_is_in_its_file
    places = read("docs/code-map.md").scan(/`((?:crates|lab|lib)[^`]+)`: ((?:`[^`]+`(?:, )?)+)/)
    named = places.flat_map do |path, names|
      names.scan(/(\w+)`/).flatten.map { |name| [path, name] }
    end

    assert_empty named.reject { |path, name| read(path).match?(/\b#{name}\b/) }
  end

  private

  # Each relative link: the page that has it, the path (empty for the page itself), and the anchor or nil.
  def links
    PAGES.flat_map do |page|
      targets = read(page).gsub(CODE, "").scan(LINK).flatten.compact
      targets.grep_v(/\A[a-z]+:/).map { |target| [page, *target.split("#", 2)] }
    end
  end

  # The path, from the root, of what a page links to.
  def path(page, target)
    return page if target.empty?

    File.expand_path(target, "/#{File.dirname(page)}").delete_prefix("/")
  end

  # The anchors that GitHub makes of a page's headings.
  def anchors(page)
    read(page).gsub(/^```.*?^```/m, "").scan(/^\#{1,6} (.+)$/).map do |(heading)|
      heading.downcase.gsub(/[^\p{Alnum}\- _]/, "").tr(" ", "-")
    end
  end

  def read(page)
    File.read(File.join(ROOT, page))
  end
end
