# frozen_string_literal: true

module Support
  # What depends on the whole process, such as counts of threads and of objects, is looked at in a fork, which has no
  # thread of another test, and no test beside it.
  module Forked
    private

    # Runs the block in a fork and returns its value, which must be one that Marshal takes.
    def forked
      reader, writer = IO.pipe
      child = fork { tell(writer) { yield } }
      writer.close
      Marshal.load(reader.read) # rubocop:disable Security/MarshalLoad -- of our own child
    ensure
      Process.wait(child)
      reader.close
    end

    # The fork has no tests to run at its end.
    def tell(writer)
      writer.write(Marshal.dump(yield))
    rescue Exception => e # rubocop:disable Lint/RescueException -- whatever it is, the test's log has it
      warn e.full_message
    ensure
      exit!
    end
  end
end
