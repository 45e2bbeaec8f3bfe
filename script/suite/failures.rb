# frozen_string_literal: true

module Suite
  # Finds the paragraphs about failed tests in the output of a command.
  module Failures
    LAST_LINES = 40
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
      paragraphs.empty? ? [output.lines.last(LAST_LINES).join.chomp] : paragraphs
    end
    private_class_method :some
  end
end
