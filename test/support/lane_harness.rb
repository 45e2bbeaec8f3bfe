# frozen_string_literal: true

require "socket"
require "tmpdir"
require "stringio"
require "carat/log/process_log"
require "carat/request/env_template"
require "carat/request/lane"
require_relative "wire"

module Carat
  module ::Support
    # A lane with the test at the other end, in place of the edge.
    #
    #   lane = Support::LaneHarness.new(->(env) { [200, {}, [env["PATH_INFO"]]] }).start
    #   lane.request(path: "/x")
    #   lane.response.body # => "/x"
    class LaneHarness
      DEADLINE_SECONDS = 60 # a test under GC.stress takes its time for a frame

      attr_reader :lane, :native, :errors, :descriptors, :fatal

      # @param release [String] the release of Rack that the application is meant for
      def initialize(app = nil, release: "2.2.0", spool_dir: Dir.tmpdir)
        @app = app
        @spool_dir = spool_dir
        @errors = StringIO.new
        @buffer = String.new
        @descriptors = []
        @last_id = 0
        @fatal = 0
        open(release)
      end

      # The log of the lane's errors and warnings.
      def log
        Log::ProcessLog.new(@errors)
      end

      # A slot of the lane, for a test that does itself what a worker would.
      def slot
        @slot ||= Native::Slot.new(@native)
      end

      # Runs the lane in a new thread, one request at a time.
      def start
        run(Request::Lane.new(@app, @native, log: log, spool_dir: @spool_dir) { @fatal += 1 })
      end

      # Runs the lane in a new thread, whose fibers take up to `capacity` requests at once. The options are those
      # of Request::FiberLane.
      def start_fibers(capacity, **options)
        options = { capacity: capacity, stall_warning: 60, log: log, spool_dir: @spool_dir, **options }
        run(Request::FiberLane.new(@app, @native, **options) { @fatal += 1 })
      end

      # Sends a request and returns its id. `file` is an IO that carries its body; `files` are the files of a
      # form, nil for one that is left in the body.
      def request(file: nil, files: [], **request)
        travelling = [file, *files].compact
        rights = travelling.empty? ? [] : [Socket::AncillaryData.unix_rights(*travelling)]
        body = file ? { body: { file: file.size } } : {}
        bytes = Wire.request(@last_id += 1, **request, **body, files: files)
        Wire.mark_first_descriptor(bytes) unless travelling.empty?
        sent = @socket.sendmsg(bytes, 0, nil, *rights)
        @socket.write(bytes.byteslice(sent..)) # sendmsg sends what fits
        @last_id
      end

      def send_bytes(bytes)
        @socket.write(bytes)
      end

      # The next response, to any request.
      def response
        Wire.response(expect(:response))
      end

      # The response to a new request.
      def call(**request)
        request(**request)
        response
      end

      # The payload of the next frame, which must be of this kind.
      def expect(kind)
        found, payload = frame
        raise "#{found.inspect} came where #{kind.inspect} was expected" unless found == kind

        payload
      end

      # The data of all chunks up to the frame that ends the stream, and the kind of that frame.
      def stream(windows: nil)
        data = +""
        loop do
          kind, payload = frame
          return [data, kind] unless kind == :chunk

          data << payload.byteslice(4..)
          send_bytes(Wire.window(@last_id, payload.bytesize - 4)) if windows
        end
      end

      # The kind and payload of the next frame; [nil, nil] at the end of the stream. Those that only say that the thread
      # goes on after its response are skipped.
      def frame
        size = 4
        read_more until @closed || @buffer.bytesize >= size && (size = @buffer.unpack1("L<") + 4) <= @buffer.bytesize
        return [nil, nil] if @buffer.empty?

        found = Wire.parse(@buffer.slice!(0, size))
        found.first == :lingers ? frame : found
      end

      # Whether something comes within `seconds`.
      def silent?(seconds)
        @buffer.empty? && @socket.wait_readable(seconds).nil?
      end

      # The id of the request that the lane began last.
      def begun
        @page.pread(4, 0).unpack1("L<")
      end

      # Takes back the requests up to this id, as the edge does.
      def recall(id)
        @page.pwrite([id].pack("L<"), 4)
      end

      # Drains the lane and waits for its thread.
      def finish
        @native.drain
        join
      end

      def join
        raise "the lane does not end" unless @thread.join(DEADLINE_SECONDS)
      end

      # Closes the edge's end.
      def disconnect
        @socket.close
      end

      def close
        @thread.kill.join if @thread&.alive?
        [@socket, @page, *@descriptors].each { |io| io.close unless io.closed? }
      end

      private

      def run(lane)
        @lane = lane
        @thread = Thread.new { lane.run }
        @thread.report_on_exception = false
        expect(:hello)
        self
      end

      def open(release)
        near, @socket = UNIXSocket.pair
        @page = File.open(Dir.tmpdir, File::RDWR | File::TMPFILE)
        @page.truncate(4)
        template = Request::EnvTemplate.new(release: release, capacity: 1, several: false, spool_dir: @spool_dir,
                                            errors: @errors)
        @native = Native::Lane.new(near, @page.dup, template.to_h)
      end

      def read_more
        raise "nothing came in #{DEADLINE_SECONDS} s" unless @socket.wait_readable(DEADLINE_SECONDS)

        bytes, _, _, *controls = @socket.recvmsg(1 << 20, 0, scm_rights: true)
        controls.each { |control| @descriptors.concat(control.unix_rights) }
        # At the end it is an empty String until Ruby 3.3, and nil from then on.
        bytes.to_s.empty? ? @closed = true : @buffer << bytes
      rescue Errno::ECONNRESET
        @closed = true
      end
    end
  end
end
