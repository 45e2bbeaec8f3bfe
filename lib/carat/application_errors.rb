# frozen_string_literal: true

module Carat
  # What is raised by mistakes of an application, and leaves the process as sound as it was. Other exceptions are meant
  # for the process.
  APPLICATION_ERRORS = [StandardError, ScriptError, SystemStackError].freeze
end
