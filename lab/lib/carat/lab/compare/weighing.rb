# frozen_string_literal: true

require_relative "../lab_error"
require_relative "../load/carat_program"
require_relative "weight_difference"

module Carat
  module Lab
    module Compare
      # Weighs the applications of both set-ups if they load different code.
      class Weighing
        # Why they are not weighed, or nil.
        attr_reader :obstacle

        # `setups` are the two Setups, `path` is what is requested.
        def initialize(setups, path)
          @setups = setups
          @path = path
          @obstacle = find_obstacle
        end

        # Returns a Hash for JSON, or nil when there is an obstacle.
        def call
          return if obstacle

          WeightDifference.new(@setups.map { |setup| setup.weigh(@path) }, @setups.map(&:directory)).report
        rescue LabError => e
          @obstacle = e.message.delete_prefix("carat: ")
          nil
        end

        private

        def find_obstacle
          choices = @setups.map(&:choice)
          return "both set-ups load the same code" if choices.map(&:code).uniq.one?

          "Carat weighs what Carat serves" unless choices.all? { |choice| choice.server == Load::CaratProgram::NAME }
        end
      end
    end
  end
end
