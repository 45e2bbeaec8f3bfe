# frozen_string_literal: true

require_relative "load_tree"
require_relative "parts"
require_relative "shares"

module Carat
  module Lab
    module Weigh
      # What `carat weigh` has found, as a Hash for JSON: `schema` says which version of lab/docs/weigh.md describes it.
      class Report
        # Rises when a reader of an older version would misunderstand.
        SCHEMA = 1

        # The LoadTree.
        attr_reader :tree

        # The Parts of the process's growth.
        attr_reader :parts

        # The Shares of a worker; nil for a Gemfile, or after an interrupt.
        attr_reader :shares

        # Seconds that the boot took.
        attr_reader :seconds

        # The name of the JIT compiler; nil without one.
        attr_reader :jit

        # Whether Ctrl-C ended the boot.
        attr_reader :interrupted

        # `result` is what Measurement returns.
        def initialize(result)
          @interrupted = result.fetch("interrupted")
          @seconds = result.fetch("seconds")
          @jit = result["jit"]
          @tree = LoadTree.new(result.fetch("accounts"), result.fetch("calls"))
          @parts = Parts.new(*result.values_at("before", "after"), @tree.root.inclusive,
                             collector: @tree.collector, own: result.fetch("own"))
          @shares = Shares.new(result.fetch("sharing"), @tree) if result.fetch("sharing")
        end

        # Returns the Hash.
        def to_h
          { "schema" => SCHEMA, "interrupted" => interrupted, "jit" => jit, "seconds" => seconds,
            "growth" => parts.growth, "parts" => parts.to_h,
            "gems" => tree.gems.map { |name, weight| { "gem" => name, **weight.report } },
            "sharing" => shares&.report, "tree" => describe(tree.root) }
        end

        private

        def describe(file)
          { "file" => file.path, "gem" => file.gem, "failed" => file.failed, "also_required_by" => file.also_by,
            "own" => file.weight.report, "inclusive" => file.inclusive.report,
            "children" => file.children.map { |child| describe(child) } }
        end
      end
    end
  end
end
