# frozen_string_literal: true

module Carat
  module Lab
    module Compare
      # Two reports of `carat weigh` in one tree, in which only what differs is left.
      class WeightDifference
        # Bytes; smaller differences are those of the order in which things happen.
        NOISE = 64 * 1024

        # Where files of the same name are in different directories: versions of a gem, and of Ruby.
        GEM_DIRECTORY = %r{\A.*/gems/[^/]+-\d[^/]*/}
        RUBY_DIRECTORY = %r{\A.*/ruby/(?:(?:vendor|site)_ruby/)?(?:\d[\d.]*/)?}
        private_constant :NOISE, :GEM_DIRECTORY, :RUBY_DIRECTORY

        # `reports` are the parsed reports of A and B, and `directories` those of the applications.
        def initialize(reports, directories)
          @reports = reports
          @directories = directories
        end

        # Returns a Hash for JSON: by how many bytes the processes grew during the boot, and the tree.
        def report
          { "a" => @reports.first["growth"], "b" => @reports.last["growth"], "tree" => tree }
        end

        private

        def tree
          merge(*@reports.map { |report| report.fetch("tree") })
        end

        # One of the two is nil where only the other has the file.
        def merge(one, other)
          sides = [one, other]
          pairs = pair(*sides.each_with_index.map { |node, side| children(node, side) })
          branches = pairs.filter_map { |pair| merge(*pair) if notable?(*pair) }
          { "file" => name(*sides), "gem" => sides.compact.first.fetch("gem"),
            "own" => bytes(sides, "own"), "inclusive" => bytes(sides, "inclusive"),
            "children" => branches.sort_by { |branch| -branch.fetch("inclusive").reduce(:-).abs } }
        end

        # The files below a node; a file that was loaded several times counts each time.
        def children(node, side)
          return {} unless node

          node.fetch("children").group_by { |child| [child.fetch("gem"), place(child.fetch("file"), side)] }
              .flat_map { |key, nodes| nodes.each_with_index.map { |child, number| [[*key, number], child] } }.to_h
        end

        def pair(ones, others)
          (ones.keys | others.keys).map { |key| [ones[key], others[key]] }
        end

        # Whether a node differs, or something below it that another difference hides.
        def notable?(one, other)
          return true if (weight(one, "inclusive") - weight(other, "inclusive")).abs >= NOISE

          pairs = pair(children(one, 0), children(other, 1))
          pairs.any? { |pair| notable?(*pair) }
        end

        def bytes(sides, part)
          sides.map { |node| weight(node, part) }
        end

        def weight(node, part)
          node ? node.dig(part, "bytes") : 0
        end

        def name(one, other)
          one ? place(one.fetch("file"), 0) : place(other.fetch("file"), 1)
        end

        def place(path, side)
          path.delete_prefix("#{@directories[side]}/").sub(GEM_DIRECTORY, "").sub(RUBY_DIRECTORY, "")
        end
      end
    end
  end
end
