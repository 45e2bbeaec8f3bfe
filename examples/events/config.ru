# frozen_string_literal: true

require_relative "board"

run Board.new
