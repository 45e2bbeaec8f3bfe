# frozen_string_literal: true

require "minitest/autorun"
require "open3"
require "rbconfig"

module Carat
  class FiberIsolationTest < Minitest::Test
    LIBRARY = File.expand_path("../../../../lib", __dir__)
    # Prints how many constants of Rack are still to be loaded.
    COUNT = <<~'RUBY'
      require "rack"
      require "carat/parts/fibers/fiber_isolation"
      Carat::Parts::Fibers::FiberIsolation.establish
      print Rack.constants.count { |name| Rack.autoload?(name) }
    RUBY

    def test_no_two_fibers_load_a_constant_of_rack_at_the_same_time
      left, status = Open3.capture2(RbConfig.ruby, "-I", LIBRARY, "-e", COUNT)

      assert_predicate status, :success?
      assert_equal RUBY_VERSION < "3.2", left.to_i.zero?, "#{left} are left"
    end
  end
end
