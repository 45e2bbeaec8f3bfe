# frozen_string_literal: true

require "carat/warmup/application"

module Carat
  module Lab
    module Compare
      # A Rack application that counts requests and the objects that the process has allocated, and writes both to a
      # file of the process now and then. Any server can run it.
      class AllocationCounter
        # Requests between two writes; fewer in the beginning, for slow applications.
        EVERY = 256
        EARLY = 16
        GEM_FILE = "gem"
        private_constant :EVERY, :EARLY, :GEM_FILE

        # Returns the application of a rackup file, counted in `directory`; notes there which version of the gem called
        # `gem_name` it has loaded.
        def self.wrap(rackup, directory, gem_name = nil)
          app = Warmup::Application.load(rackup)
          version = Gem.loaded_specs[gem_name]&.version if gem_name
          File.write(File.join(directory, GEM_FILE), version.to_s) if gem_name
          new(app, directory)
        end

        # Returns the counts so far, requests and objects, by process id.
        def self.read(directory)
          names = Dir.children(directory).grep(/\A\d+\z/)
          names.to_h do |name|
            [Integer(name, 10), File.read(File.join(directory, name)).split.map { |text| Integer(text, 10) }]
          end
        end

        # Returns the objects a request between two results of `read`; nil when no process has counted in both.
        def self.per_request(before, after)
          common = before.keys & after.keys
          requests, objects = [0, 1].map { |index| common.sum { |pid| after[pid][index] - before[pid][index] } }
          objects.fdiv(requests) if requests.positive?
        end

        # Returns the version of the gem, empty when it is not loaded; nil when there is no note.
        def self.gem_version(directory)
          path = File.join(directory, GEM_FILE)
          File.read(path) if File.exist?(path)
        end

        def initialize(app, directory)
          @app = app
          @directory = directory
          @requests = 0
        end

        # A Rack application.
        def call(env)
          count = (@requests += 1)
          write(count) if count < EVERY ? early?(count) : (count % EVERY).zero?
          @app.call(env)
        end

        private

        def early?(count)
          (count % EARLY).zero? || (count & (count - 1)).zero?
        end

        # A fork has a file of its own. The lines have one length, so that each replaces the one before.
        def write(requests)
          return if @unwritable

          @pid, @file = Process.pid, nil unless @pid == Process.pid
          @file ||= File.open(File.join(@directory, @pid.to_s), "w")
          @file.pwrite(format("%020d %020d\n", requests, objects), 0)
        rescue SystemCallError
          @unwritable = true # a server without privileges; its allocations are unknown
        end

        # Carat extends the heap with objects of its own, at any time. An older Carat does not say with how many.
        def objects
          processes = Carat.const_get(:Processes, false) if Carat.const_defined?(:Processes, false)
          room = processes.const_get(:HeapRoom) if processes&.const_defined?(:HeapRoom)
          GC.stat(:total_allocated_objects) - (room.respond_to?(:objects) ? room.objects : 0)
        end
      end
    end
  end
end
