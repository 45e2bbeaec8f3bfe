# frozen_string_literal: true

# What a connection can say once it is extended with this module.
module Protocol
  def respond
    "connection #{number} asked for #{path}\n"
  end
end
