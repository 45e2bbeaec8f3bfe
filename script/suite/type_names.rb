# frozen_string_literal: true

require_relative "rust_source"

module Suite
  # Checks that a type name stands for one thing in all crates.
  class TypeNames
    TEST_FILE = %r{/(?:tests?|fixture)(?:/|\.rs\z)}

    # @param paths [Array<String>] the Rust files
    # @param allowed [Array<String>] names that may stand for several things
    def initialize(paths, allowed: [])
      @paths = paths.grep_v(TEST_FILE)
      @allowed = allowed
    end

    # @return [Array<String>] a sentence for each name with several meanings
    def failures
      declared = Hash.new { |names, name| names[name] = [] }
      @paths.each do |path|
        RustSource.new(File.read(path)).types.each { |name, line| declared[name] << "#{path}:#{line}" }
      end
      several = declared.select { |name, places| places.size > 1 && !@allowed.include?(name) }
      several.map do |name, places|
        "#{name} is the name of #{places.size} types (#{places.join(", ")}): put the noun first, as in LaneState"
      end
    end
  end
end
