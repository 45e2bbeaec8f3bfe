# frozen_string_literal: true

require_relative "switchboard"

run Switchboard.new(without: ENV.fetch("WITHOUT", "").split(","), repaired: ENV.key?("REPAIRED"))
