# frozen_string_literal: true

module Support
  module Chaos
    # Connections that the application takes over. It reads what comes then.
    module Tunnels
      private

      def tunnel
        outcome, body = note("GET", :tunnel, bytes(Client::SPOOLED_BYTES))
        attempt(outcome) do
          head = connection.request("GET", outcome.path).read_response(head: true)
          outcome.status = head.status
          outcome.worker = head["x-worker"].to_i
          outcome.body = connection.write(body).close_write.read_to_end if outcome.served?
        end
        lose(outcome) if outcome.served? && outcome.body.to_s.empty?
      ensure
        outcome.stopping = @stopping.call
        close
      end

      # A tunnel ends early only with its worker, which may become the mold.
      def lose(outcome)
        Eventually.eventually(message: "the end of the worker of #{outcome}") do
          !ProcessTree.title(outcome.worker).start_with?("carat: worker=")
        end
        outcome.status = nil
        outcome.left = true
      end
    end
  end
end
