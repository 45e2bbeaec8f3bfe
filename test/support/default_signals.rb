# frozen_string_literal: true

module Support
  # A shell that starts a command in the background of a script (`script/test &`) ignores two signals for it, and every
  # process that the command starts inherits that; nohup ignores a third. Tests send these to their children, so they
  # need the defaults.
  module DefaultSignals
    IGNORED_IN_BACKGROUND = %w[INT QUIT HUP].freeze

    # Restores the handlers of this process and of those that it starts from now on.
    def self.restore
      IGNORED_IN_BACKGROUND.each { |name| trap(name, "DEFAULT") }
    end
  end
end
