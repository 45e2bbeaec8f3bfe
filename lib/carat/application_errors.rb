# frozen_string_literal: true

module Carat
  # Exceptions that an application's mistakes raise, and after which the process can continue. Other exceptions, such as
  # SystemExit, concern the whole process.
  APPLICATION_ERRORS = [StandardError, ScriptError, SystemStackError].freeze
  private_constant :APPLICATION_ERRORS
end
