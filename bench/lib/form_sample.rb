# frozen_string_literal: true

module Bench
  # What one form cost. seconds: from the first byte sent to the answer; worker, front: bytes that these processes grew
  # by; cpu: seconds of the worker beyond the application's digest; digest: seconds of that; disk: bytes written to
  # files for each byte of the file; beside: seconds of small requests, lists by :alone, :arriving and :answering.
  class FormSample
    attr_reader :seconds, :front, :worker, :cpu, :digest, :disk, :beside

    def initialize(peer, seen, bytes, beside)
      @seconds = seen.value[:answered] - seen.value[:begun]
      @front = seen.growth.of(peer.front_role)
      @worker = seen.growth.of(peer.worker_role)
      @digest = seen.value[:headers].fetch(:"x-digest-cpu").to_f
      @cpu = seen.cpu.fetch(peer.worker_role) - @digest
      @disk = seen.io.disk.fdiv(bytes)
      @beside = beside
    end

    # Of [[begun, seconds, bytes], ...]: those that came and went while the body was sent, and those that met what
    # came after.
    def self.meanwhile(probes, upload)
      during = probes.select { |begun, _, _| begun.between?(upload[:begun], upload[:answered]) }
      arriving, answering = during.partition { |begun, seconds, _| begun + seconds <= upload[:sent] }
      { arriving: arriving.map { |_, seconds, _| seconds }, answering: answering.map { |_, seconds, _| seconds } }
    end
  end
end
