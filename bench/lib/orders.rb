# frozen_string_literal: true

require "json"

module Bench
  # The loop of a client program: an order is a JSON line ["name", {arguments}], and so is its answer.
  module Orders
    # Calls the receiver's methods with keyword arguments until the input ends. The first line says that it is there.
    def self.obey(receiver, input, output)
      output.sync = true
      output.puts("true")
      input.each_line do |line|
        name, arguments = JSON.parse(line, symbolize_names: true)
        output.puts(JSON.generate(receiver.public_send(name, **arguments)))
      end
    end
  end
end
