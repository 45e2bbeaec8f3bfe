# frozen_string_literal: true

require "test_helper"
require_relative "../../../script/suite/crates"

class CratesTest < Minitest::Test
  {
    "MIT" => true, "GPL-3.0" => false, "" => false, "MIT/GPL-3.0" => true, "MIT AND GPL-3.0" => false,
    "MIT AND GPL-3.0 OR Zlib" => true, "(MIT OR GPL-3.0) AND ISC" => true, "(GPL-2.0 OR LGPL-2.1) AND MIT" => false,
    "Apache-2.0 WITH LLVM-exception" => false, "Apache-2.0 WITH LLVM-exception OR MIT" => true
  }.each do |license, allowed|
    define_method("test_a_crate_with_the_license_#{license.inspect}_is_#{allowed ? "allowed" : "refused"}") do
      assert_equal allowed, Suite::Crates.allowed?(license)
    end
  end
end
