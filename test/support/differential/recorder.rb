# frozen_string_literal: true

module Support
  module Differential
    # An application that writes down each request, and answers with a status that no proxy makes up.
    module Recorder
      STATUS = 299
      FILE = "requests.log"
      # The letter of a case (see Case) may stand in a body, too; its digest is without it.
      APP = <<~RUBY
        require "digest/md5"

        log = File.open("#{FILE}", "a")
        run lambda { |env|
          body = env["rack.input"]&.read.to_s
          digest = "\#{body.bytesize}:\#{Digest::MD5.hexdigest(body.gsub(%r{/[a-z]/}n, "/*/"))[0, 8]}"
          log.syswrite([env["REQUEST_METHOD"], digest, env["PATH_INFO"]].join(" ") << "\\n")
          [#{STATUS}, { "content-length" => "0" }, []]
        }
      RUBY

      # The requests so far, in their order: method, path and digest of the body.
      # @param directory [ServerDirectory]
      def self.requests(directory)
        lines = directory.read(FILE).b.lines(chomp: true)
        lines.map { |line| line.split(" ", 3).values_at(0, 2, 1) }
      end
    end
  end
end
