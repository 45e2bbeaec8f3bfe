# frozen_string_literal: true

module Suite
  # One file of Rust, without its comments and its tests: the paths that it names and the types that it declares.
  class RustSource
    TESTS = /^#\[cfg\(test\)\]\s*\n(?:pub\([^)]*\) )?mod \w+ \{/
    TEST_FILES = /^#\[cfg\(test\)\]\s*\n\s*mod (\w+);/
    COMMENT = %r{//.*$}
    USE = /^[ \t]*(?<public>pub(?:\([^)]*\))?\s+)?use\s+(?<tree>[^;]+);/
    INLINE = /\b(?:crate|super)(?:::\w+)+/
    DECLARATION = /^(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|union)\s+(\w+)/

    # A path as it is written, split at `::`. A public one is a re-export.
    Path = Struct.new(:segments, :line, :public) do
      def to_s
        segments.join("::")
      end
    end

    def initialize(text)
      @text = text.partition(TESTS).first.gsub(COMMENT, "")
      @test_modules = text.scan(TEST_FILES).flatten
    end

    # @return [Array<String>] the modules that exist in tests only
    attr_reader :test_modules

    # @return [Array<Path>] every path that this file imports or spells out
    def paths
      imported + spelled_out
    end

    # @return [Array<Array(String, Integer)>] each declared type and its line
    def types
      matches(DECLARATION).map { |match| [match[1], line_of(match)] }
    end

    private

    def imported
      matches(USE).flat_map do |match|
        expand(match[:tree].gsub(/\s+/, " ")).map { |path| Path.new(path, line_of(match), !match[:public].nil?) }
      end
    end

    def spelled_out
      without_use = @text.gsub(USE) { |statement| statement.gsub(/[^\n]/, " ") }
      matches(INLINE, without_use).map { |match| Path.new(match[0].split("::"), line_of(match), false) }
    end

    def matches(pattern, text = @text)
      text.to_enum(:scan, pattern).map { Regexp.last_match }
    end

    def line_of(match)
      match.pre_match.count("\n") + 1 + match[0][/\A\s*/].count("\n")
    end

    # The paths of a use tree: `a::{b, c::{self, D}}` is a::b, a::c and a::c::D.
    def expand(tree, prefix = [])
      head, brace, rest = tree.strip.partition("{")
      segments = prefix + head.sub(/ as \w+\s*\z/, "").strip.split("::")
      return [segments.last == "self" ? segments[0..-2] : segments] if brace.empty?

      branches(rest.strip.delete_suffix("}")).flat_map { |branch| expand(branch, segments) }
    end

    # Splits at the commas that are in no inner braces.
    def branches(list)
      depth = 0
      parts = [+""]
      list.each_char do |char|
        depth += { "{" => 1, "}" => -1 }.fetch(char, 0)
        char == "," && depth.zero? ? parts << +"" : parts.last << char
      end
      parts.map(&:strip).reject(&:empty?)
    end
  end
end
