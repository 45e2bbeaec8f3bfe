# frozen_string_literal: true

require "minitest/autorun"
require_relative "../../../script/image/dockerfile"

module Image
  class DockerfileTest < Minitest::Test
    ROOT = File.expand_path("../../..", __dir__)
    # What Builder carries out.
    KNOWN = %w[FROM ARG ENV WORKDIR RUN COPY USER EXPOSE CMD].freeze

    def test_continued_lines_are_one_instruction_and_comments_none
      text = "# a comment\nFROM a AS b\n\nRUN one && \\\n    # within\n    two\n"

      assert_equal [["FROM", "a AS b"], ["RUN", "one &&      two"]], Dockerfile.new(text).instructions.map(&:to_a)
    end

    def test_the_dockerfile_has_only_instructions_that_can_be_carried_out
      instructions = Dockerfile.new(File.read(File.join(ROOT, "deploy/docker/Dockerfile"))).instructions

      assert_empty instructions.map(&:name).uniq - KNOWN
      assert_equal "CMD", instructions.last.name
    end
  end
end
