# frozen_string_literal: true

require_relative "load_tree"

module Carat
  module Lab
    module Weigh
      # What a worker shares with the mold, and what it has for itself, by gem.
      class Shares
        # The names of rows that are no gem's.
        WARM_UP = "(warm-up)"
        OTHER = "(other memory)"
        FILES = "(mapped files)"
        CODE = "(machine code)"

        # By the number of the account: of nobody, of files, of a JIT compiler, and of what is older than the ledger, of
        # other threads, or of the collector.
        NAMES = { -1 => OTHER, -2 => FILES, -3 => CODE,
                  LoadTree::EARLIER => OTHER, LoadTree::COLLECTOR => OTHER }.freeze
        private_constant :WARM_UP, :OTHER, :FILES, :CODE, :NAMES

        # How many processes share a page of the mold: the mold and the worker.
        SHARERS = 2

        # Bytes of pages that the mold has, too, of pages that it has not, and the part of the PSS.
        Row = Struct.new(:name, :shared, :private, :pss)

        # `result` is that of Sharing, parsed; `tree` is the LoadTree.
        def initialize(result, tree)
          @result = result
          @tree = tree
        end

        # The path of the requests, how many there were, and why they ended early, or nil.
        def target = @result.fetch("target")

        # See `target`.
        def requests = @result["requests"]

        # See `target`.
        def problem = @result["problem"]

        # Returns the Rows right after the fork, the largest first; nil when there was none.
        def after_fork
          rows("after_fork")
        end

        # Returns the Rows after the requests; nil when they failed.
        def after_load
          rows("after_load")
        end

        # The PSS of the worker by the kernel, `name` is "after_fork" or "after_load".
        def pss(name)
          @result.fetch(name).fetch("pss")
        end

        # Returns a Hash for JSON.
        def report
          { "path" => target, "requests" => requests, "problem" => problem,
            **%w[after_fork after_load].to_h { |name| [name, describe(name)] } }
        end

        private

        def describe(name)
          found = rows(name) or return
          { "pss" => pss(name), "gems" => found.map do |row|
            { "gem" => row.name, "shared" => row.shared.round, "private" => row.private.round, "pss" => row.pss.round }
          end }
        end

        def rows(name)
          sample = @result[name] or return
          groups = sample.fetch("accounts").group_by { |number, _, _| name_of(number) }
          rows = groups.map do |gem, members|
            shared, own = [1, 2].map { |index| members.sum { |member| member[index] } }
            Row.new(gem, shared, own, gem == FILES ? sample.fetch("pss_of_files") : own + (shared / SHARERS))
          end
          rows.reject { |row| row.pss.zero? }.sort_by { |row| -row.shared - row.private }
        end

        def name_of(number)
          NAMES[number] || (number >= @result.fetch("warm_up") ? WARM_UP : @tree.gem_of(number))
        end
      end
    end
  end
end
