# frozen_string_literal: true

module Image
  # An instruction of a Dockerfile: its name, such as "RUN", and the rest.
  Instruction = Struct.new(:name, :text)

  # The instructions of a Dockerfile, as far as deploy/docker/Dockerfile uses its language.
  class Dockerfile
    COMMENT = /^\s*#.*\n/
    CONTINUATION = /\\\n/
    private_constant :COMMENT, :CONTINUATION

    # @param text [String] the file
    def initialize(text)
      @text = text
    end

    # @return [Array<Instruction>]
    def instructions
      lines = @text.gsub(COMMENT, "").gsub(CONTINUATION, " ").lines.map(&:strip).reject(&:empty?)
      lines.map { |line| Instruction.new(*line.split(" ", 2)) }
    end
  end
end
