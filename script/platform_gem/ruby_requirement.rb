# frozen_string_literal: true

module PlatformGem
  # The `required_ruby_version` of a gem with extensions for some Rubies. Any other Ruby gets the source gem from
  # RubyGems and Bundler, and compiles it.
  class RubyRequirement
    # RubyGems has no operator for "not 3.2": the patch releases of a gap are listed. Ruby 2.7 and later had at most 11.
    PATCH_RELEASES = (0..19).freeze

    # `abis` are Strings such as 3.3.0.
    def initialize(abis)
      @minors = abis.map { |abi| Gem::Version.new(abi).segments.first(2) }.sort
    end

    # Returns the clauses.
    def to_a
      [">= #{@minors.first.join(".")}", "< #{following(@minors.last)}.dev", *gaps]
    end

    # Returns the Rubies in words.
    def to_s
      @minors.map { |minor| minor.join(".") }.join(", ")
    end

    private

    def following(minor)
      "#{minor.first}.#{minor.last + 1}"
    end

    def gaps
      @minors.each_cons(2).flat_map { |low, high| between(low, high) }
             .flat_map { |minor| PATCH_RELEASES.map { |patch| "!= #{minor}.#{patch}" } }
    end

    # Ruby 4.0 follows 3.4.
    def between(low, high)
      return [] if low.first != high.first

      (low.last + 1...high.last).map { |last| "#{low.first}.#{last}" }
    end
  end
end
