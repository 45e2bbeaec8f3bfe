# frozen_string_literal: true

require "fileutils"
require "open3"
require "test_helper"
require "tmpdir"

class AptMirrorTest < Minitest::Test
  SCRIPT = File.expand_path("../../../script/apt_mirror.sh", __dir__)
  STANZAS = <<~TEXT
    Types: deb
    # http://snapshot.example/debian
    URIs: http://mirror.example/debian  http://second.example/debian
    Suites: trixie

    Types: deb
    URIs: http://mirror.example/debian-security
  TEXT
  LINES = <<~TEXT
    # deb http://old.example/debian trixie main
    deb [arch=amd64 trusted=yes] http://lines.example/debian/ trixie main
  TEXT

  def setup
    @directory = Dir.mktmpdir
    FileUtils.mkdir(File.join(@directory, "sources.list.d"))
  end

  def teardown
    FileUtils.remove_entry(@directory)
  end

  def test_mirrors_are_found_in_stanzas
    write("sources.list.d/debian.sources", STANZAS)

    assert_equal "http://mirror.example/debian", mirror("/debian/?$")
    assert_equal "http://mirror.example/debian-security", mirror("/debian-security/?$")
  end

  def test_mirrors_are_found_in_lines
    write("sources.list", LINES)

    assert_equal "http://lines.example/debian/", mirror("/debian/?$")
  end

  def test_there_is_no_default_mirror
    write("sources.list", "deb http://other.example/packages stable main\n")

    assert_equal "", mirror("/debian/?$")
  end

  private

  def write(name, text)
    File.write(File.join(@directory, name), text)
  end

  def mirror(pattern)
    output, status = Open3.capture2e("bash", "-euo", "pipefail", "-c", '. "$1"; apt_mirror "$2" "$3"',
                                     "_", SCRIPT, pattern, @directory)
    assert_predicate status, :success?, output
    output.chomp
  end
end
