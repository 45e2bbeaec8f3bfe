# frozen_string_literal: true

module Carat
  VERSION = "0.1.0"
end
