# frozen_string_literal: true

require "minitest/autorun"
require "carat/cli/weigh/requirers"

module Carat
  class RequirersTest < Minitest::Test
    File = Struct.new(:also_by)

    def test_files_are_named_as_require_finds_them
      assert_equal "also required by rack.rb, rack/utils.rb", words("/gems/rack-3/lib/rack.rb", "/x/lib/rack/utils.rb")
    end

    def test_only_the_first_of_many_have_names
      paths = %w[a b c d e].map { |name| "/gems/x-1/lib/#{name}.rb" }

      assert_equal "also required by a.rb, b.rb, c.rb, and 2 more", words(*paths)
    end

    private

    def words(*paths) = CLI::Weigh::Requirers.words(File.new(paths))
  end
end
