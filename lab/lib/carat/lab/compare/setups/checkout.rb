# frozen_string_literal: true

require "fileutils"
require "open3"
require_relative "../../lab_error"

module Carat
  module Lab
    module Compare
      # The files of a commit, in a directory of their own: neither the working tree nor the repository changes.
      module Checkout
        module_function

        # Writes the files of `commit`, of the repository that has `source`, to `directory`. Returns the directory there
        # that stands for `source`. Raises LabError.
        def write(commit, source, directory)
          top = git(source, "rev-parse", "--show-toplevel") or
            raise LabError, "carat: --commit: #{source} is in no git repository"
          prefix = git(source, "rev-parse", "--show-prefix")
          found = git(source, "rev-parse", "--verify", "--quiet", "--end-of-options", "#{commit}^{commit}") or
            raise LabError, "carat: --commit: git finds no commit #{commit}"

          FileUtils.mkdir_p(directory)
          unpack(top, found, directory)
          place = File.join(directory, prefix)
          return place if File.directory?(place)

          raise LabError, "carat: --commit: #{commit} has no directory #{prefix}"
        end

        def git(directory, *words)
          out, _, status = Open3.capture3("git", "-C", directory, *words)
          out.chomp if status.success?
        rescue Errno::ENOENT
          raise LabError, "carat: --commit needs git: apt install git"
        end

        def unpack(top, commit, directory)
          statuses = Open3.pipeline(["git", "-C", top, "archive", commit], ["tar", "-x", "-C", directory])
          raise LabError, "carat: --commit: #{commit} cannot be unpacked" unless statuses.all?(&:success?)
        end
        private_class_method :git, :unpack
      end
    end
  end
end
