# frozen_string_literal: true

require "open3"
require_relative "checkout"
require_relative "files"

module Releasing
  # What makes the files of a release public. Without `yes`, each step only prints its commands.
  class Publication
    SIGSTORE = "sigstore-cli:0.2.3"

    # `files` are the Files of the release.
    def initialize(files)
      @files = files
    end

    # Signs and pushes all gems; those that compile are the last, so that nobody gets one in place of another.
    def push(yes = nil)
      @files.gems.each do |path|
        bundle = "#{path}.sigstore.json"
        run(yes, "gem", "exec", SIGSTORE, "sign", path, "--bundle", bundle)
        run(yes, "gem", "push", path, "--attestation", bundle)
      end
    end

    # Makes the page of a version's tag, with its `notes` and all files.
    def page(version, notes, yes = nil)
      run(yes, "gh", "release", "create", "v#{version}", "--verify-tag", "--notes-file", "-", *@files.all, input: notes)
    end

    private

    def run(yes, *words, input: "")
      return puts(words.join(" ")) unless yes

      output, status = Open3.capture2e(*words, stdin_data: input)
      puts output
      raise Refusal, "#{words.join(" ")} failed" unless status.success?
    end
  end
end
