# frozen_string_literal: true

require "minitest/autorun"
require "open3"
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

  def test_parts_of_a_platform_gem_belong_to_the_extension_of_this_ruby
    write("gem/native/gnu/#{version}/carat/native.so", "")
    write_shared_parts

    assert_equal [path("gem/native/gnu/#{version}"), path("gem/native/gnu/carat/carat-edge"),
                  path("gem/native/gnu/carat/malloc.so")].inspect, in_gem("[path.directory, path.edge, path.malloc]")
  end

  def test_platform_gem_without_this_ruby_names_the_one_that_compiles
    write("gem/native/gnu/1.9.1/carat/native.so", "")
    write_shared_parts

    assert_equal "nil", in_gem("path.directory")
    assert_includes in_gem("path.remedy"), "gem install carat --platform ruby"
  end

  def test_platform_gem_for_another_c_library_names_what_chooses_the_right_one
    write("gem/native/gnu/#{version}/carat/native.so", "")
    write_shared_parts
    musl = { "CARAT_TEST_SYSTEM" => "linux-musl" }

    assert_equal "nil", in_gem("path.directory", musl)
    assert_match(/\A"not built for Ruby [^:]+: its parts are for another C library .* gem update --system, .* 3\.3\.22/,
                 in_gem("path.missing", musl))
  end

  def test_another_system_is_told_where_carat_serves
    assert_match(/\A"serves on Linux, and this is darwin23: start Puma here for development, or Carat in a container /,
                 in_gem("path.missing", "CARAT_TEST_SYSTEM" => "darwin23"))
  end

  def test_extension_of_another_directory_is_not_mixed_in
    write("native/carat/native.so", "")
    Carat::NativePath::PARTS.drop(1).each { |part| write("native/#{version}/#{part}", "") }
    $LOAD_PATH << path("native/#{version}")

    assert_nil Carat::NativePath.directory
  end

  def test_checkout_keeps_the_parts_apart_for_each_ruby
    assert_equal "#{RbConfig::CONFIG["ruby_version"]}-#{RbConfig::CONFIG["arch"]}", Carat::NativePath::ABI
    assert_equal File.join(Carat::NativePath::ROOT, "build", Carat::NativePath::ABI), Carat::NativePath::BUILD
  end

  private

  def version
    RbConfig::CONFIG.fetch("ruby_version")
  end

  def write_shared_parts
    Carat::NativePath::PARTS.drop(1).each { |part| write("gem/native/gnu/#{part}", "") }
  end

  # Evaluates an expression with the NativePath of a gem. With CARAT_TEST_SYSTEM, on a machine with another system.
  def in_gem(expression, env = {})
    write("gem/lib/carat/native_path.rb", File.read(File.join(Carat::NativePath::ROOT, "lib/carat/native_path.rb")))
    system = env.empty? ? [] : ["-r", File.join(Carat::NativePath::ROOT, "test/support/another_system")]
    output, status = Open3.capture2e({ "RUBYLIB" => nil, "RUBYOPT" => nil, **env }, RbConfig.ruby, *system,
                                     "-r", path("gem/lib/carat/native_path.rb"),
                                     "-e", "path = Carat::NativePath; p(#{expression})")
    assert_predicate status, :success?, output
    output.chomp
  end
end
