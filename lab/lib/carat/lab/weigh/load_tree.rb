# frozen_string_literal: true

require_relative "loaded_file"
require_relative "weight"

module Carat
  module Lab
    module Weigh
      # The loaded files as a tree: below each file, those that it was the first to load.
      class LoadTree
        # The path of what the boot did outside of any file.
        ROOT = "(boot)"

        # The numbers of the accounts that are no file's; those of files follow.
        EARLIER = 0
        OUTSIDE = 1
        # The account of what the garbage collector takes for itself.
        COLLECTOR = 2
        FIRST_FILE = 3
        private_constant :OUTSIDE, :FIRST_FILE

        # The LoadedFile at the top.
        attr_reader :root

        # `accounts` and `calls` are those that Boot writes, parsed.
        def initialize(accounts, calls)
          @accounts = accounts
          @calls = calls.to_h { |call| [call.fetch("number"), call] }
          @files = {}
          @root = @files[OUTSIDE] = LoadedFile.new(ROOT, ROOT, false, nil, [], [], weight(EARLIER) + weight(OUTSIDE))
          (FIRST_FILE...accounts.size).each { |number| add(number) }
          link_repeats
        end

        # Returns the bytes that the collector has allocated for itself.
        def collector
          weight(COLLECTOR).bytes
        end

        # Returns all LoadedFiles, the root first.
        def files
          @files.values.uniq
        end

        # Returns the name of the gem of the file with the account of this number.
        def gem_of(number)
          @files.fetch(number, @root).gem
        end

        # Returns a Hash of Weight by the name of the gem, the heaviest first.
        def gems
          sums = files.group_by(&:gem).transform_values { |members| members.map(&:weight).reduce(:+) }
          sums.sort_by { |_, weight| -weight.bytes }.to_h
        end

        private

        def weight(number)
          Weight.new(*@accounts.fetch(number).drop(1))
        end

        # A call that loaded nothing belongs to the file that made it. An account without a call is that of a file that
        # was left by `throw` or a dying thread.
        def add(number)
          parent = @files.fetch(@accounts.fetch(number).first, @root)
          call = @calls[number]
          return join(number, parent) if call.nil? || call.fetch("outcome") == "known"

          failed = call.fetch("outcome") == "failed"
          return join(number, parent) if failed && empty?(number)

          file = LoadedFile.new(call.fetch("file"), call.fetch("gem"), failed, parent, [], [], weight(number))
          parent.children << file
          @files[number] = file
        end

        def join(number, parent)
          parent.weight += weight(number)
          @files[number] = parent
        end

        # Whether a failed call loaded no other file: there was none of that name.
        def empty?(number)
          @with_children ||= @accounts.map(&:first).uniq
          !@with_children.include?(number)
        end

        def link_repeats
          by_path = files.to_h { |file| [file.path, file] }
          @calls.each_value do |call|
            next unless call.fetch("outcome") == "known"

            file = by_path[call.fetch("file")] or next
            requirer = @files.fetch(call.fetch("number"), @root)
            file.also_by << requirer.path unless [file, file.parent].include?(requirer)
          end
          files.each { |file| file.also_by.uniq! }
        end
      end
    end
  end
end
