# frozen_string_literal: true

require "tmpdir"
require_relative "../interrupts"
require_relative "finding"
require_relative "limit"
require_relative "looks"
require_relative "quantity"
require_relative "report"
require_relative "sample"
require_relative "setups/setup"
require_relative "weighing"

module Carat
  module Lab
    module Compare
      # Rounds in which both set-ups are measured, until their differences are known or the time is up.
      class Comparison
        # `choices` are the two Choices, `generator` is a Load::Generator, `plan` a Load::Plan, and `limit` a Limit.
        def initialize(choices, generator, plan, limit, progress)
          @choices = choices
          @generator = generator
          @plan = plan
          @limit = limit
          @progress = progress
          @rounds = []
          @looks = Looks.new
        end

        # Returns a Report. Raises ConfigError and LabError. An Interrupt ends the rounds; the report then says what is
        # known. `env` is ENV or a Hash.
        def call(env)
          Dir.mktmpdir("carat-compare") do |files|
            setups = @choices.map { |choice| Setup.new(choice, File.join(files, choice.name), env) }
            @weighing = Weighing.new(setups, @plan.path)
            Interrupts.raising { measure(setups) }
            report(interrupted: false)
          rescue Interrupt
            report(interrupted: true)
          ensure
            @progress.clear
          end
        end

        private

        def measure(setups)
          @progress.step("comparing")
          @began = now
          loop do
            @rounds << round(setups)
            @passed = passed
            break if finished?
          end
          @progress.step("weighing both set-ups") unless @weighing.obstacle
          @memory = @weighing.call
        end

        # Rounds begin with A and B in turn: what comes first may find another machine.
        def round(setups)
          order = @rounds.size.even? ? setups : setups.reverse
          samples = order.to_h do |setup|
            [setup, Sample.take(setup, @generator, @plan) { @progress.advance(@limit.share(@rounds.size, passed)) }]
          end
          setups.map { |setup| samples.fetch(setup) }
        end

        # A look that does not end the comparison has used up its share of false alarms.
        def finished?
          return spent? unless @looks.due?(@rounds.size)
          return true if findings.all?(&:settled?) || spent?

          @looks.advance
          false
        end

        def spent?
          @limit.reached?(@rounds.size, passed)
        end

        def findings
          Quantity::ALL.map do |quantity|
            pairs = @rounds.map { |samples| samples.map { |sample| sample[quantity.name] } }
            Finding.new(quantity, pairs, @looks.current)
          end
        end

        def report(interrupted:)
          memory = { "memory" => @memory, "unweighed" => @weighing.obstacle }
          Report.new(@choices, @plan, @rounds, findings, fewest: @looks.first, passed: @passed || 0, interrupted:,
                                                         memory:)
        end

        def passed
          now - @began
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
