# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../script/releasing/files"
require_relative "../../../support/workplace"

class ReleasingFilesTest < Minitest::Test
  include Support::Workplace

  NAMES = %w[carat-0.1.0-aarch64-linux-musl.gem carat-0.1.0-edge.cdx.json carat-0.1.0-x86_64-linux-gnu.gem
             carat-0.1.0.gem carat-lab-0.1.0.gem].freeze
  OTHERS = %w[carat-0.0.9.gem carat-0.1.0.gem.sigstore.json rack-3.2.0.gem carat-10.1.0.gem].freeze

  def setup
    super
    [*NAMES, *OTHERS].each { |name| write("pkg/#{name}", name) }
  end

  def test_checksums_are_those_of_all_files_of_the_version
    out, = capture_io { files.sums }

    assert_equal NAMES, out.lines.map { |line| line.split.last }
    assert_equal out, File.read("pkg/SHA256SUMS")
    assert system("sha256sum", "--check", "--quiet", "SHA256SUMS", chdir: "pkg")
  end

  def test_gems_that_compile_are_the_last_to_be_pushed
    out, = capture_io { files.push }
    pushed = out.lines.grep(/\Agem push/).map { |line| File.basename(line.split[2]) }

    assert_equal %w[carat-0.1.0-aarch64-linux-musl.gem carat-0.1.0-x86_64-linux-gnu.gem carat-lab-0.1.0.gem
                    carat-0.1.0.gem], pushed
    assert_equal 8, out.lines.size
  end

  def test_version_without_files_has_no_checksums
    assert_raises(Releasing::Refusal) { Releasing::Files.new("9.9.9", directory: path("pkg")).sums }
  end

  private

  def files
    Releasing::Files.new("0.1.0", directory: path("pkg"))
  end
end
