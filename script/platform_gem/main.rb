# frozen_string_literal: true

# Packs the parts in build/ into pkg/carat-VERSION-CPU-linux-gnu.gem, or -linux-musl with a Ruby for musl. `rake native`
# compiles those of this Ruby before. Arguments name another processor and C library: aarch64 musl. A third one is the
# glibc that a gem for a trial may need, which is packed into pkg/trial: aarch64 gnu 2.41.
require_relative "package"

module PlatformGem
  # Who packs the same parts gets the same bytes.
  ENV["SOURCE_DATE_EPOCH"] ||= `git -C #{SourceDigest::ROOT} log -1 --format=%ct`.chomp
  cpu = ARGV.fetch(0, Gem::Platform.local.cpu)
  library = ARGV.fetch(1) { RbConfig::CONFIG.fetch("host_os").include?("musl") ? "musl" : "gnu" }
  builds = Builds.new(cpu:, library:)
  builds.outdated.each { |build| warn "left out, compiled from other sources: #{build.directory}" }
  licenses = ThirdPartyLicenses.of(SourceDigest::ROOT, "#{cpu}-unknown-linux-#{library}").to_s
  glibc = Gem::Version.new(ARGV.fetch(2, GlibcNeed::DEBIAN))
  directory = File.join(SourceDigest::ROOT, "pkg", *("trial" if ARGV.size > 2))
  path = Package.new(builds, licenses:, glibc:, cpu:, library:).write(directory)
  puts "#{path}: #{File.size(path)} bytes, for Ruby #{RubyRequirement.new(builds.current.map(&:abi))}"
rescue Refusal => e
  abort "native: #{e.message}"
end
