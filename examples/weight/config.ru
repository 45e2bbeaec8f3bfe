# frozen_string_literal: true

require_relative "weight"

run Weight
