# frozen_string_literal: true

module Support
  module Chaos
    # What a client knows about one request that it has sent.
    #
    # digest: the SHA-256 of its body; left: whether the client closed before the response; status, body: of the
    # response; worker: the pid of the process that made it; error: why there was none; stopping: whether the server had
    # been told to stop by then.
    Outcome = Struct.new(:verb, :path, :digest, :left, :status, :body, :worker, :error,
                         :stopping, keyword_init: true) do
      # The application has not begun a request that gets one of these.
      NEVER_BEGUN = [503, 507].freeze
      # The application may have begun a request that gets one of these.
      MAYBE_BEGUN = [500, 502, 504].freeze

      def answered?
        !status.nil?
      end

      def served?
        status == 200
      end

      def never_begun?
        NEVER_BEGUN.include?(status) || (stopping && !answered? && !left)
      end

      def post?
        verb == "POST"
      end

      # Whether this is something that a client may see at all.
      def expected?
        return left || stopping unless answered?

        served? || NEVER_BEGUN.include?(status) || MAYBE_BEGUN.include?(status)
      end

      def to_s
        "#{verb} #{path} #{status || error || "left"}#{" in the stop" if stopping}"
      end
    end
  end
end
