# frozen_string_literal: true

require_relative "chat"

run Rails.application
