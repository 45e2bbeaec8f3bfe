# frozen_string_literal: true

require "minitest/autorun"
require "carat/config/settings"
require "carat/config/sources/dsl"
require_relative "../support/workplace"

module Carat
  # Every config file that a page shows is one: its options exist, and their values are valid.
  class DocsConfigTest < Minitest::Test
    include Support::Workplace

    ROOT = File.expand_path("../..", __dir__)
    BLOCK = /^```ruby\n(# carat\.rb.*?)^```/m
    # The files that the pages name, and the names that another machine has.
    FILES = %w[app.crt app.key public/500.html].freeze
    NAMES = { "/run/app/" => "", "/etc/app/" => "", '"app"' => '"root"', '"www-data"' => '"root"' }.freeze

    def test_each_config_file_of_a_page_is_valid
      FILES.each { |path| write(path, "") }
      pages = Dir.glob("{README.md,docs/**/*.md}", base: ROOT)
      blocks = pages.flat_map { |page| File.read(File.join(ROOT, page)).scan(BLOCK).map { |(code)| [page, code] } }

      assert_operator blocks.size, :>, 20
      assert_empty(blocks.filter_map { |page, code| (problem = problem(code)) && "#{page}: #{problem}" })
    end

    private

    def problem(code)
      dsl = Config::DSL.new(Config::Settings.new, Config::Hooks.new, Config::Processes.new, @workplace)
      dsl.instance_eval(code.gsub(Regexp.union(NAMES.keys), NAMES), path("carat.rb"))
      nil
    rescue StandardError, SyntaxError => e
      "#{e.message.lines.first}: #{code.lines.first}"
    end
  end
end
