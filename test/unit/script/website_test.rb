# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../support/workplace"
require_relative "../../../script/website/llms"
require_relative "../../../script/website/pages"
require_relative "../../../script/website/rendering"
require_relative "../../../script/website/tree"

class WebsiteTest < Minitest::Test
  include Support::Workplace

  ADDRESS = "https://example.org/carat"

  def test_links_to_what_is_no_page_lead_to_the_repository
    write("docs/bodies.md",
          "[b](cable.md#x) [c](../deploy/c.yml) [d](../deploy) [e](#e) [f](https://f.example) [g](images/g.svg)")
    write("docs/cable.md", "")
    write("deploy/c.yml", "")

    assert_equal "[b](cable.md#x) [c](#{ADDRESS}/blob/v1/deploy/c.yml) [d](#{ADDRESS}/tree/v1/deploy) [e](#e) " \
                 "[f](https://f.example) [g](images/g.svg)", pages.text("docs/bodies.md")
  end

  def test_a_link_to_nothing_raises
    write("docs/bodies.md", "[x](../nowhere.rb)")
    error = assert_raises(RuntimeError) { pages.text("docs/bodies.md") }

    assert_equal "docs/bodies.md: there is no ../nowhere.rb", error.message
  end

  def test_code_stays_as_it_is
    text = "`[x](../x)`\n```md\n[x](../x)\n```\n"
    write("docs/bodies.md", text)

    assert_equal text, pages.text("docs/bodies.md")
  end

  def test_the_address_of_the_repository_stands_where_a_page_says_url
    write("docs/bodies.md",
          "`URL` is its address.\n```sh\ngit clone URL carat\nbundle add carat --git URL\n```\na URL\n")

    assert_equal "`#{ADDRESS}` is its address.\n```sh\ngit clone #{ADDRESS} carat\n" \
                 "bundle add carat --git #{ADDRESS}\n```\na URL\n", pages.text("docs/bodies.md")
  end

  def test_a_picture_follows_the_switch_of_the_site
    image = '<img src="docs/images/l.svg" alt="A">'
    write("README.md", "<picture><source media='x' srcset=\"docs/images/d.svg\">#{image}</picture>")

    assert_equal "![A](docs/images/l.svg#only-light)![A](docs/images/d.svg#only-dark)", pages.text("README.md")
  end

  def test_pages_and_images_are_where_the_checkout_has_them
    %w[README.md docs/bodies.md docs/images/g.svg lab/docs/leak.md].each { |path| write(path, "") }
    write("site/old.md", "")
    pages.write("site")

    assert_equal %w[README.md docs/bodies.md docs/images/g.svg lab/docs/leak.md],
                 Dir.glob("**/*.*", base: "site").sort
  end

  def test_the_list_for_language_models_says_what_each_page_is_for
    write("README.md", "# Carat\n\nA server.\n\nIt\nserves.\n\nMore.\n")
    write("docs/README.md",
          "| you want to | page |\n|---|---|\n| keep it small | [memory.md](memory.md) |\n| x | [y](../y.rb) |\n")
    write("docs/memory.md", "# Memory of `x`\n")
    write("y.rb", "")

    assert_equal "# Carat\n\n> A server.\n\nIt serves.\n\n## Pages\n\n" \
                 "- [Memory of x](https://c.example/docs/memory.md): keep it small\n",
                 Website::LLMs.new(pages, "https://c.example/").to_s
  end

  def test_marks_that_have_become_text_are_problems
    write("html/good/index.html", "<article><p>a</p><pre>\n* b\n| - |</pre></article>")
    write("html/bad/index.html", "<article><p>run it.\n2. <strong>Then</strong> this</p></article>")

    assert_match(/\Abad\/index\.html: .*2\. /, Website::Rendering.new("html").problems.first)
    assert_equal 1, Website::Rendering.new("html").problems.size
  end

  def test_the_site_has_the_last_release_of_each_minor_version_and_what_is_not_released
    versions = Website::Versions.new(%w[v0.9.0 v0.10.1 v0.10.10 v0.10.2 v1.0.0.rc1 nightly])

    assert_equal [%w[0.10 v0.10.10], %w[0.9 v0.9.0], ["main", nil]], versions.list.map { |each| [each.name, each.tag] }
    assert_equal [["0.10", "0.10.10", ["latest"]], ["0.9", "0.9.0", []], ["main", "main (not released)", []]],
                 JSON.parse(versions.to_json).map(&:values)
  end

  def test_before_the_first_release_the_latest_version_is_what_is_not_released
    assert_equal "main", Website::Versions.new([]).latest.name
  end

  # A stand-in for script/site writes what it was told.
  def test_each_version_is_built_by_the_script_of_its_tag_and_the_root_leads_to_the_latest
    commit_script(1)
    git "tag", "v0.1.0"
    commit_script(2)
    Website::Tree.new("tree", "https://c.example/", Website::Versions.new(%w[v0.1.0])).build

    assert_equal "script 1: https://c.example/0.1/ v0.1.0 mike\n", File.read("tree/0.1/index.html")
    assert_equal "script 2: https://c.example/main/ main mike\n", File.read("tree/main/index.html")
    assert_equal "script 1: pages\n", File.read("tree/llms.txt")
    assert_equal File.realpath("tree/0.1"), File.realpath("tree/latest")
    assert_includes File.read("tree/index.html"), 'content="0; url=latest/"'
    assert_equal %w[0.1 main], JSON.parse(File.read("tree/versions.json")).map { |each| each["version"] }
  end

  private

  def commit_script(number)
    write("script/site", <<~SH)
      #!/bin/sh
      mkdir -p target/site/html && cd target/site/html
      echo "script #{number}: $CARAT_SITE $CARAT_REVISION $CARAT_VERSIONS" >index.html
      for name in 404.html llms.txt; do echo "script #{number}: pages" >$name; done
    SH
    File.chmod(0o755, "script/site")
    git "init", "--quiet"
    git "add", "script"
    git "-c", "user.name=a", "-c", "user.email=a@a.example", "commit", "--quiet", "--message", "script #{number}"
  end

  def git(*words)
    assert system("git", *words)
  end

  def pages
    Website::Pages.new(ADDRESS, "v1", root: @workplace)
  end
end
