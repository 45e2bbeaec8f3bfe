# frozen_string_literal: true

require "test_helper"
require "carat/lab/html/interval_plot"
require "carat/lab/html/page"
require "carat/lab/html/table"
require "carat/lab/html/tree_plot"

module Carat
  # Pages of `--html` in a browser.
  class HtmlReportTest < Minitest::Test
    include Support::PlantedApplication

    needs Support::Browser.obstacle

    SCREENS = [Support::Browser::DESKTOP, Support::Browser::PHONE].freeze
    SMALL = %w[--requests 101 --rounds 8].freeze
    HOSTILE = "</script><script>hacked = true</script><img src=x onerror=hacked=true>"
    # How many pixels have the color of a series.
    BLUE = "(canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data" \
           ".reduce((sum, _, i, data) => sum + (i % 4 === 2 && data[i + 1] > 0 && data[i] - data[i - 2] > 80), 0))" \
           "(document.querySelector('canvas'))"
    Node = Lab::Html::TreePlot::Node

    def test_page_of_leak_is_drawn_on_every_screen
      plant(:object, requests: 2000)
      _, err, status = run_leak(*SMALL, "--html", path)

      assert_predicate status, :success?, err
      each_screen { |browser| assert_equal 8, count(browser, "canvas") }
      assert_includes File.read(path), "config.ru:#{leaking_line(:object)}"
    end

    def test_page_of_weigh_is_drawn_on_every_screen
      out = write_page("weigh", "--json")

      each_screen { |browser| assert_operator count(browser, ".box"), :>, 1 }
      assert_equal 1, JSON.parse(out).fetch("schema")
    end

    # What is drawn: boxes of a tree, or this number of plots.
    {
      "allocations --requests 11" => nil, "profile --seconds 1 --sampling 1KB" => nil,
      "ips --seconds 1" => [1], "load --seconds 1" => [3], "compare --threads 1,2 --seconds 1 --rounds 1" => 6..
    }.each do |words, plots|
      define_method("test_page_of_#{words[/\w+/]}_is_drawn_on_every_screen") do
        write_page(*words.split)

        each_screen do |browser|
          plots ? assert_includes(plots, count(browser, "canvas")) : assert_operator(count(browser, ".box"), :>, 1)
        end
      end
    end

    def test_nothing_in_the_data_becomes_a_script
      page = tree_page(node(HOSTILE, 3, [node("#{HOSTILE}2", 5)]))
      page.section(HOSTILE, HOSTILE)
      browse(page) do |browser|
        assert_equal "undefined", browser.evaluate("typeof hacked")
        assert_equal HOSTILE, browser.evaluate("document.querySelector('.box').textContent")
        assert_empty browser.complaints
      end
    end

    def test_page_cannot_reach_the_network
      browse(tree_page(node("root", 1))) do |browser|
        assert_equal "refused", browser.evaluate("fetch('http://127.0.0.1:1/').catch(() => 'refused')")
        assert_match(/Content Security Policy/, browser.complaints.join)
      end
    end

    def test_arrow_keys_move_between_the_points_of_a_plot
      browse(line_page([10, 20, 30], [1024, 2048, 4096])) do |browser|
        browser.press("Tab")
        assert_equal "plot", browser.evaluate("document.activeElement.className")
        browser.press("ArrowRight")
        assert_equal "20 requests: measured 2.000 KiB", browser.evaluate("document.querySelector('output').textContent")
        browser.press("End")
        assert_equal "30 requests: measured 4.000 KiB", browser.evaluate("document.querySelector('output').textContent")
      end
    end

    def test_a_tail_has_room_for_its_last_percents
      browse(line_page([50, 99, 99.9], [0.002, 0.03, 0.4], unit: "seconds", tail: true)) do |browser|
        %w[Tab ArrowRight].each { |key| browser.press(key) }
        assert_equal "99 requests: measured 30 ms", browser.evaluate("document.querySelector('output').textContent")
        left = browser.evaluate("parseFloat(document.querySelector('.u-cursor-x').style.transform.match(/[\\d.]+/)[0])")
        width = browser.evaluate("document.querySelector('.u-over').clientWidth")
        assert_in_delta 0.63, left.fdiv(width), 0.02
      end
    end

    def test_a_line_of_one_round_is_a_point
      drawn = [[1], [1, 2]].map do |rounds|
        browse(line_page(rounds, [1000] * rounds.size, style: "line")) { |browser| browser.evaluate(BLUE) }
      end

      assert_operator drawn.first, :>, 20
      assert_operator drawn.last, :>, drawn.first
    end

    def test_arrow_keys_move_between_intervals
      intervals = [["first", 5, 4, 6], ["second", 7, 6.5, 9]]
                  .map { |numbers| Lab::Html::IntervalPlot::Interval.new(*numbers) }
      plot = Lab::Html::IntervalPlot.new("rates", unit: "i/s", intervals:)
      browse(Lab::Html::Page.new("ips", lead: "").tap { |page| page.section("Paths", plot) }) do |browser|
        %w[Tab ArrowRight].each { |key| browser.press(key) }
        assert_equal "second: measured 7 i/s, interval 6.5 to 9 i/s",
                     browser.evaluate("document.querySelector('output').value")
      end
    end

    def test_keys_move_in_a_tree_and_widen_its_boxes
      browse(tree_page(node("root", 0, [node("left", 60, [node("leaf", 20)]), node("right", 20)]))) do |browser|
        browser.evaluate("document.querySelector('.box').focus()")
        %w[ArrowDown ArrowRight].each { |key| browser.press(key) }
        assert_equal "right: 20 B; 20.0 %", label(browser)
        %w[ArrowLeft Enter].each { |key| browser.press(key) }
        assert_equal "left: 80 B, own 60 B; 80.0 %", label(browser)
        assert_equal "100%", browser.evaluate("document.activeElement.style.width")
        browser.press("Escape")
        assert_equal "root: 100 B, own 0 B; 100.0 %", label(browser)
      end
    end

    def test_rows_of_a_tree_open_and_close_by_keys
      browse(tree_page(node("root", 100, [node("small", 1, [node("leaf", 1)])]))) do |browser|
        browser.evaluate("document.querySelector('[role=treegrid] button').focus()")
        %w[ArrowDown ArrowRight].each { |key| browser.press(key) }
        assert_equal %w[root small leaf], rows(browser)
        browser.press("ArrowLeft")
        assert_equal %w[root small], rows(browser)
      end
    end

    def test_inverted_tree_has_the_callers_below_each_place
      root = node("main", 1, [node("a", 2, [node("leaf", 10)]), node("b", 0, [node("leaf", 30)])])
      browse(tree_page(root, inverted: true)) do |browser|
        browser.evaluate("(list => { list.value = 1; list.dispatchEvent(new Event('change')); })" \
                         "(document.querySelector('select'))")
        assert_equal ["main: 43 B", "leaf: 40 B", "a: 2 B", "main: 1 B", "b: 30 B", "a: 10 B", "main: 2 B",
                      "main: 30 B", "main: 10 B"], boxes(browser)
      end
    end

    def test_boxes_that_are_too_narrow_are_one_which_widens
      children = Array.new(1000) { |number| node("n#{number}", 2) }
      browse(tree_page(node("root", 0, [*children, node("wide", 3000)]))) do |browser|
        assert_equal ["1000 smaller: 1.953 KiB", "wide: 2.930 KiB"], boxes(browser).drop(1).sort
        browser.evaluate("document.querySelectorAll('.box')[2].click()")
        assert_equal 203, count(browser, ".box")
      end
    end

    private

    def path
      File.join(@directory, "report.html")
    end

    # Runs a command for an application that keeps nothing, and returns its output.
    def write_page(name, *flags)
      plant(:clean, requests: 1)
      out, err, status = Open3.capture3(*COMMAND, name, *flags, "--html", path, chdir: @directory)
      # One round of `carat compare` has no verdict.
      assert_includes [0, 2], status.exitstatus, err
      out
    end

    def count(browser, selector)
      browser.evaluate("document.querySelectorAll('#{selector}').length")
    end

    # A page is at most as wide as its screen, and says nothing on the console.
    def each_screen
      Support::Browser.open do |browser|
        SCREENS.product(%w[light dark]).each do |screen, scheme|
          browser.visit(path, screen:, scheme:)
          assert_equal screen.fetch(:width), browser.evaluate("document.documentElement.scrollWidth")
          assert_equal "true", browser.evaluate("document.documentElement.dataset.ready")
          yield browser
          assert_empty browser.complaints
        end
      end
    end

    def browse(page)
      File.write(path, page.to_s)
      Support::Browser.open do |browser|
        browser.visit(path)
        yield browser
      end
    end

    def tree_page(root, inverted: false)
      measures = [Lab::Html::TreePlot::Measure.new("memory", "bytes")]
      page = Lab::Html::Page.new(HOSTILE, lead: HOSTILE)
      page.section("Tree", Lab::Html::TreePlot.new(HOSTILE, measures, { "all" => root }, inverted:))
      page
    end

    def line_page(xs, ys, style: "points", unit: "bytes", **options)
      series = [Lab::Html::LinePlot::Series.new("measured", ys, style)]
      page = Lab::Html::Page.new("lines", lead: "")
      page.section("Run", Lab::Html::LinePlot.new("live", axis: "requests", xs:, unit:, series:, **options))
      page
    end

    def node(label, own, children = [])
      Node.new(label, "", [own], children, nil)
    end

    def label(browser)
      browser.evaluate("document.activeElement.getAttribute('aria-label')")
    end

    def rows(browser)
      cells = "[role=treegrid] tbody th > :first-child"
      browser.evaluate("[...document.querySelectorAll('#{cells}')].map(cell => cell.textContent)")
    end

    # The boxes and their numbers, row by row.
    def boxes(browser)
      labels = browser.evaluate("[...document.querySelectorAll('.box')].map(box => box.getAttribute('aria-label'))")
      labels.map { |text| text[/\A[^,;]+/] }
    end
  end
end
