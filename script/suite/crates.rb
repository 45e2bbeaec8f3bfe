# frozen_string_literal: true

require "json"

module Suite
  # The licenses and sources of all crates, also of those for other systems, against what deny.toml allows. The workflow
  # in .github runs cargo-deny itself, which knows the vulnerabilities, too, but takes minutes to compile.
  module Crates
    MANIFESTS = %w[Cargo.toml bench/Cargo.toml lab/crate/Cargo.toml].freeze
    SOURCES = [nil, "registry+https://github.com/rust-lang/crates.io-index"].freeze
    LICENSES = File.read("deny.toml")[/^allow = \[(.*?)\]/m].scan(/"(.+?)"/).flatten.freeze

    # @return [Array<String>] a line for each crate that may not be used
    def self.refused
      MANIFESTS.flat_map { |manifest| packages(manifest) }.uniq.filter_map do |package|
        name, version, license, source = package.values_at("name", "version", "license", "source")
        next if SOURCES.include?(source) && allowed?(license.to_s)

        "#{name} #{version} of #{source || "this checkout"} has the license #{license.inspect}"
      end
    end

    # Whether an SPDX expression such as `(MIT OR Zlib) AND ISC` is true of the licenses allowed. `/` once meant OR.
    def self.allowed?(expression)
      flat = expression.gsub("/", " OR ")
      nil while flat.sub!(/\(([^()]*)\)/) { either?(Regexp.last_match(1)) ? LICENSES.first : "none" }
      either?(flat)
    end

    def self.either?(flat)
      flat.split(" OR ").any? { |all| all.split(" AND ").all? { |one| LICENSES.include?(one.strip) } }
    end

    def self.packages(manifest)
      text = IO.popen(%W[cargo metadata --locked --format-version 1 --manifest-path #{manifest}], &:read)
      JSON.parse(text).fetch("packages")
    end
    private_class_method :either?, :packages
  end
end

if $PROGRAM_NAME == __FILE__
  refused = Suite::Crates.refused
  puts refused
  exit refused.empty?
end
