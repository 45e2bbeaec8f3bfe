# frozen_string_literal: true

module Suite
  # Checks that each `match` on certain enums names every variant: an arm that takes whatever is left would drop a new
  # variant without a word from the compiler. It relies on the indentation of rustfmt.
  class WildcardArms
    MATCH = /^( *)(?!\s*\/\/).*\bmatch .*\{$/
    # `_`, or a name that binds the value, with a condition or without.
    REST = /^\s*(?:_|[a-z]\w*)(?: if .*)? =>/

    # The enums that a file declares.
    def self.enums(path)
      File.read(path).scan(/^pub enum (\w+)/).flatten
    end

    # @param paths [Array<String>] the Rust files
    # @param enums [Array<String>] the names of the enums
    def initialize(paths, enums)
      @paths = paths
      @variant = /^\s*(?:&|\w+\()*(?:#{enums.join("|")})::[A-Z]/
    end

    # @return [Array<String>] a sentence for each arm
    def failures
      @paths.flat_map do |path|
        lines = File.readlines(path)
        lines.each_index.flat_map { |index| rest(path, lines, index) }
      end
    end

    private

    def rest(path, lines, index)
      indentation = lines[index][MATCH, 1] or return []
      arms = arms(lines, index, indentation.size)
      return [] unless arms.any? { |line, _| line.match?(@variant) }

      arms.select { |line, _| line.match?(REST) }.map do |line, number|
        "#{path}:#{number}: #{line[/\S+/]} takes every variant that is left: name them"
      end
    end

    # The first line of each arm, and its number.
    def arms(lines, index, indentation)
      body = lines.each_with_index.drop(index + 1).take_while { |line, _| !line.start_with?("#{" " * indentation}}") }
      arms = body.select { |line, _| line[/^ */].size == indentation + 4 }
      arms.map { |line, at| [line, at + 1] }
    end
  end
end
