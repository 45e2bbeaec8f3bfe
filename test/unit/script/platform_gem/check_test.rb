# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../script/platform_gem/check"

class PlatformGemCheckTest < Minitest::Test
  def test_server_that_takes_too_long_is_told_with_what_raises_the_limit
    assert_equal "the first response took 34.9 s, more than 10 s: repeat this on a machine that does nothing else, " \
                 "or set CARAT_TEST_BOOT_SECONDS", PlatformGem::Check.delay(34.9, 10)
  end

  def test_server_that_takes_as_long_as_it_may_is_fit
    assert_nil PlatformGem::Check.delay(10.0, 10)
  end
end
