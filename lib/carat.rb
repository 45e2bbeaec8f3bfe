# frozen_string_literal: true

require_relative "carat/version"
require_relative "carat/config_error"
require_relative "carat/configuration"

# Carat, an application server for Ruby: a Rust edge that owns the connections, and Ruby workers that answer.
module Carat
end
