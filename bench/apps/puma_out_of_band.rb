# frozen_string_literal: true

# Collects when a worker has no request.
out_of_band { GC.start }
