# frozen_string_literal: true

require "minitest/autorun"
require "carat/native_path"
require_relative "../support/workplace"

class NativePathTest < Minitest::Test
  include Support::Workplace

  def setup
    super
    @load_path = $LOAD_PATH.dup
    $LOAD_PATH.reject! { |directory| File.exist?(File.join(directory, Carat::NativePath::PARTS.first)) }
  end

  def teardown
    $LOAD_PATH.replace(@load_path)
    super
  end

  def test_all_parts_are_found_in_one_directory_of_the_load_path
    Carat::NativePath::PARTS.each { |part| write("ext/#{part}", "") }
    $LOAD_PATH << path("ext")

    assert_equal path("ext"), Carat::NativePath.directory
    assert_equal path("ext/carat/carat-edge"), Carat::NativePath.edge
    assert_equal path("ext/carat/malloc.so"), Carat::NativePath.malloc
  end

  def test_single_part_is_not_enough
    write("ext/carat/carat-edge", "")
    $LOAD_PATH << path("ext")

    assert_nil Carat::NativePath.directory
    assert_nil Carat::NativePath.edge
    assert_nil Carat::NativePath.malloc
  end

  def test_checkout_keeps_the_parts_apart_for_each_ruby
    assert_equal "#{RbConfig::CONFIG["ruby_version"]}-#{RbConfig::CONFIG["arch"]}", Carat::NativePath::ABI
    assert_equal File.join(Carat::NativePath::ROOT, "build", Carat::NativePath::ABI), Carat::NativePath::BUILD
  end
end
