# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../../script/releasing/publication"
require_relative "../../../support/workplace"

class ReleasingPublicationTest < Minitest::Test
  include Support::Workplace

  NAMES = %w[carat-0.1.0-x86_64-linux-gnu.gem carat-0.1.0.gem carat-0.1.0-edge.cdx.json].freeze

  def setup
    super
    NAMES.each { |name| write("pkg/#{name}", name) }
    @publication = Releasing::Publication.new(Releasing::Files.new("0.1.0", directory: File.expand_path("pkg")))
  end

  def test_each_gem_is_signed_and_pushed_those_that_compile_last
    out, = capture_io { @publication.push }

    assert_equal [%w[exec carat-0.1.0-x86_64-linux-gnu.gem.sigstore.json],
                  %w[push carat-0.1.0-x86_64-linux-gnu.gem.sigstore.json],
                  %w[exec carat-0.1.0.gem.sigstore.json], %w[push carat-0.1.0.gem.sigstore.json]],
                 out.lines.map { |line| [line.split[1], File.basename(line.split.last)] }
  end

  def test_page_has_all_files
    out, = capture_io { @publication.page("0.1.0", "notes") }

    assert_match(/\Agh release create v0.1.0 --verify-tag --notes-file - /, out)
    assert_equal [*NAMES.sort, "SHA256SUMS"], out.split.last(4).map { |path| File.basename(path) }
  end

  def test_page_is_made_with_the_notes_and_a_failure_is_one_of_the_release
    write("bin/gh", "#!/bin/sh\necho \"$3: $(cat)\"; [ -e made ] && exit 1; touch made\n")
    File.chmod(0o755, "bin/gh")
    with_path(File.expand_path("bin")) do
      out, = capture_io { @publication.page("0.1.0", "what is new", "--yes") }

      assert_equal "v0.1.0: what is new\n", out
      capture_io { assert_raises(Releasing::Refusal) { @publication.page("0.1.0", "what is new", "--yes") } }
    end
  end

  private

  def with_path(directory)
    before = ENV.fetch("PATH")
    ENV["PATH"] = "#{directory}:#{before}"
    yield
  ensure
    ENV["PATH"] = before
  end
end
