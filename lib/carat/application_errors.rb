# frozen_string_literal: true

module Carat
  # Exceptions that mistakes of an application raise, and that leave the process sound. Other exceptions concern the
  # process.
  APPLICATION_ERRORS = [StandardError, ScriptError, SystemStackError].freeze
  private_constant :APPLICATION_ERRORS
end
