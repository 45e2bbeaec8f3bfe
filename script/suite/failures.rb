# frozen_string_literal: true

module Suite
  # Finds the paragraphs about failed tests in the output of a command.
  module Failures
    LAST_LINES = 40
    # How much of each paragraph is shown.
    LINE_LIMIT = 30
    COLUMN_LIMIT = 300
    MINITEST = /^ +\d+\) (?:Failure|Error):\n.*?(?=\n\n|\z)/m
    CARGO = /^test [^\n]+ \.\.\. FAILED$|^---- [^\n]+ stdout ----\n.*?(?=\n\n|\z)/m

    def self.from_cargo(output)
      some(output.scan(CARGO), output)
    end

    def self.from_minitest(output)
      some(output.scan(MINITEST), output)
    end

    def self.from_check(output)
      some([], output)
    end

    # The end of the output when it names no test.
    def self.some(paragraphs, output)
      paragraphs.empty? ? [output.lines.last(LAST_LINES).join.chomp] : paragraphs.map { |paragraph| short(paragraph) }
    end

    # The beginning of each of the first lines. The whole is in the output above.
    def self.short(paragraph)
      lines = paragraph.lines(chomp: true)
      shown = lines.first(LINE_LIMIT).map { |line| line.length > COLUMN_LIMIT ? "#{line[...COLUMN_LIMIT]}..." : line }
      left = lines.size - shown.size
      shown << "... and #{left} more lines" if left.positive?
      shown.join("\n")
    end
    private_class_method :some, :short
  end
end
