# frozen_string_literal: true

require "minitest/autorun"
require "minitest/mock"
require "rubygems/user_interaction"
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

  def test_gems_that_compile_are_the_last
    assert_equal %w[carat-0.1.0-aarch64-linux-musl.gem carat-0.1.0-x86_64-linux-gnu.gem carat-lab-0.1.0.gem
                    carat-0.1.0.gem], files.gems.map { |path| File.basename(path) }
  end

  def test_each_gem_that_this_machine_installs_is_tried_and_the_lab_with_the_first
    %w[carat-0.1.0-aarch64-linux-musl.gem carat-0.1.0.gem].each { |name| FileUtils.rm(path("pkg/#{name}")) }
    pack("carat-0.1.0-x86_64-linux-gnu.gem", "riscv64-freebsd")
    pack("carat-0.1.0.gem", "ruby")

    assert_equal [["carat-0.1.0.gem"], ["carat-lab-0.1.0.gem", "carat-0.1.0.gem"]],
                 files.trials.map { |gems| gems.map { |path| File.basename(path) } }
  end

  def test_parts_of_other_machines_are_unpacked_into_the_checkout
    write("build/abi/carat/native.so", "native")
    assert system("tar", "-cf", "parts.tar", "build")
    words = nil
    files.stub(:execute, ->(*given) { words = given }) { files.unpack("parts.tar") }

    assert_equal ["tar", "-xf", path("parts.tar")], words
  end

  def test_documents_of_crates_do_not_name_the_directory_where_they_are_made
    assert_equal %w[carat-edge carat-malloc carat-native].map { |crate| "path+file:///crates/#{crate}#0.1.0" },
                 documents("0.1.0")
  end

  def test_documents_give_crates_the_version_of_the_release
    assert_equal "path+file:///crates/carat-edge#9.8.7-rc1", documents("9.8.7.rc1").first
  end

  def test_version_without_files_has_no_checksums
    assert_raises(Releasing::Refusal) { Releasing::Files.new("9.9.9", directory: path("pkg")).sums }
  end

  private

  def files
    @files ||= Releasing::Files.new("0.1.0", directory: path("pkg"))
  end

  def documents(version)
    files = Releasing::Files.new(version, directory: path("pkg"))
    files.stub(:settle_date, nil) { files.stub(:execute, method(:describe)) { files.sbom } }
    %w[edge malloc native].map { |part| File.read("pkg/carat-#{version}-#{part}.cdx.json") }
  end

  # Writes what cargo-cyclonedx would, in its form.
  def describe(*words, chdir: nil, **)
    return unless words.include?("cyclonedx")

    version = File.read(File.join(chdir, "Cargo.toml"))[/^version = "(.+)"$/, 1]
    Releasing::Files::PARTS.each do |crate|
      File.write(File.join(chdir, "crates", crate, "sbom.json"), "path+file://#{chdir}/crates/#{crate}##{version}")
    end
  end

  def pack(name, platform)
    spec = Gem::Specification.new("carat", "0.1.0") do |it|
      it.platform = platform
      it.summary = it.description = it.author = it.homepage = it.license = "MIT"
    end
    Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new) { Gem::Package.build(spec, true, false, path("pkg/#{name}")) }
  end
end
