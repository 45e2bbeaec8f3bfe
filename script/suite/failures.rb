# frozen_string_literal: true

module Suite
  # What the output of a command says of the tests that failed, as paragraphs.
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

    # The end of the output, where no test is named.
    def self.some(paragraphs, output)
      paragraphs.empty? ? [output.lines.last(LAST_LINES).join.chomp] : paragraphs
    end
    private_class_method :some
  end
end
