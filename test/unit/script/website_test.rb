# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../support/workplace"
require_relative "../../../script/website/llms"
require_relative "../../../script/website/pages"
require_relative "../../../script/website/rendering"

class WebsiteTest < Minitest::Test
  include Support::Workplace

  ADDRESS = "https://example.org/carat"

  def test_links_to_what_is_no_page_lead_to_the_repository
    write("docs/bodies.md",
          "[b](cable.md#x) [c](../deploy/c.yml) [d](../deploy) [e](#e) [f](https://f.example) [g](images/g.svg)")
    write("docs/cable.md", "")
    write("deploy/c.yml", "")

    assert_equal "[b](cable.md#x) [c](#{ADDRESS}/blob/main/deploy/c.yml) [d](#{ADDRESS}/tree/main/deploy) [e](#e) " \
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

  private

  def pages
    Website::Pages.new(ADDRESS, root: @workplace)
  end
end
