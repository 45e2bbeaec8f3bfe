# frozen_string_literal: true

# After a response a Puma thread waits 0.2 s for the connection's next request, so one thread would need
# 2 000 s for 10 000 connections. A short wait does not change what an idle connection holds.
Puma::Const.send(:remove_const, :FAST_TRACK_KA_TIMEOUT) if Puma::Const.const_defined?(:FAST_TRACK_KA_TIMEOUT)
Puma::Const.const_set(:FAST_TRACK_KA_TIMEOUT, 0.001)
# Longer than the measurement, so that Puma does not close what is to be measured.
persistent_timeout 120
