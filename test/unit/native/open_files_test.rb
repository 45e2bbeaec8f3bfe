# frozen_string_literal: true

require "test_helper"
require "rack"

module Native
  # A worker at its limit of open files.
  class OpenFilesTest < Support::NativeTest
    include Support::Forked

    FACTORY = "rack.multipart.tempfile_factory"
    LIMIT = 200

    def test_a_form_whose_files_are_lost_goes_back_and_the_next_request_is_served
      seen = in_a_process do |lane|
        lane.request(files: files(20))
        lane.request(path: "/next")
        leave_descriptors(5)
        path = lane.slot.take["PATH_INFO"]
        lane.slot.flush
        [path, *lane.frame.then { |kind, payload| [kind, payload.unpack1("L<")] }]
      end
      assert_equal ["/next", :descriptors_lost, 1], seen
    end

    def test_files_behind_lost_ones_stay_with_their_request
      seen = in_a_process do |lane|
        [2, 20, 2].each { |count| lane.request(files: files(count)) }
        leave_descriptors(5)
        Array.new(2) { read_files(lane, 2).tap { lane.slot.respond(200, {}, []) } }
      end
      assert_equal [%w[1 2], %w[23 24]], seen
    end

    def test_forgotten_files_are_closed_before_a_request_is_sent_again
      seen = in_a_process do |lane|
        2.times { lane.request(files: files(20)) }
        leave_descriptors(5, forgets: true)
        read_files(lane, 20)
      end
      assert_equal ("21".."40").to_a, seen
    end

    def test_forgotten_files_are_closed_for_a_response_that_is_a_file
      assert_equal :sent, in_a_process { |lane| respond_with_file(lane, forgets: true) }
    end

    def test_a_response_that_is_a_file_without_a_descriptor_is_an_error_of_its_request
      assert_equal "Too many open files", in_a_process { |lane| respond_with_file(lane, forgets: false) }
    end

    private

    # Unlinked files that contain their numbers.
    def files(count)
      @files ||= []
      Array.new(count) do
        (@files << File.open(Dir.tmpdir, File::RDWR | File::TMPFILE | File::BINARY)).last.tap do |file|
          file.write(@files.size.to_s)
          file.flush
        end
      end
    end

    def read_files(lane, count)
      factory = lane.slot.take.fetch(FACTORY)
      Array.new(count) { factory.call("x", nil).read }
    end

    # Returns :sent, or what prevented it.
    def respond_with_file(lane, forgets:)
      lane.request
      lane.slot.take
      leave_descriptors(1, forgets: forgets)
      File.open(File::NULL) do |null|
        lane.slot.respond_file(200, {}, [null.fileno, 0, 0, false])
        :sent
      rescue Errno::EMFILE => e
        lane.slot.respond(500, {}, []) && e.message
      end
    end

    # Opens files until this process can open only this many more. `forgets` leaves them to the garbage collector.
    def leave_descriptors(count, forgets: false)
      @files&.each(&:close)
      GC.start # What earlier tests forgot is not found later,
      @kept = ObjectSpace.each_object(IO).to_a # nor what a stale reference has kept until now.
      Process.setrlimit(:NOFILE, LIMIT)
      open_all_but(count) { |file| @kept << file unless forgets }
    end

    # Yields each file. Stops before an error, at which Ruby 3.4 collects garbage although that is disabled.
    def open_all_but(count)
      (free_descriptors - count).times { yield File.open(File::NULL) }
    end

    # The directory that this reads is open meanwhile.
    def free_descriptors
      LIMIT - Dir.children("/proc/self/fd").count { |number| number.to_i < LIMIT } + 1
    end

    # Runs the block with a lane in a new process and returns its value. Only GC.start collects there.
    def in_a_process
      forked do
        GC.disable
        yield(harness)
      end
    end
  end
end
