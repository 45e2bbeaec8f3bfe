# frozen_string_literal: true

module Suite
  # Finds the paragraphs about failed tests in the output of a command.
  module Failures
    LAST_LINES = 40
    # How much of each paragraph is shown.
    LINE_LIMIT = 30
    COLUMN_LIMIT = 300
    CARGO = /^test [^\n]+ \.\.\. FAILED$|^---- [^\n]+ stdout ----\n.*?(?=\n\n|\z)/m

    def self.from_cargo(output)
      output.scan(CARGO).map { |paragraph| short(paragraph) }
    end

    def self.from_check(_output)
      []
    end

    def self.end_of(output)
      output.lines.last(LAST_LINES).join.chomp
    end

    # The beginning of each of the first lines. The whole is in the output above.
    def self.short(paragraph)
      lines = paragraph.lines(chomp: true)
      shown = lines.first(LINE_LIMIT).map { |line| line.length > COLUMN_LIMIT ? "#{line[...COLUMN_LIMIT]}..." : line }
      left = lines.size - shown.size
      shown << "... and #{left} more lines" if left.positive?
      shown.join("\n")
    end
  end
end
