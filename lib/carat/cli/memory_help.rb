# frozen_string_literal: true

module Carat
  module CLI
    # The text of `carat memory --help`.
    class MemoryHelp
      TEXT = <<~TEXT
        Usage: carat memory [--pid PID | --control-socket PATH] [--json]

        Asks a running server what its processes weigh. Without a flag that is the one
        on the control_socket of the configuration, or else your only one in spool_dir.

          --pid PID                the server with this process id
          --control-socket PATH    the server on this socket
          --json                   print the server's answer as it is; sizes in bytes

        process    The edge, the mold, and the workers by their numbers.
        pid        The process id.
        gen        The generation: how many molds there were, this one's included.
        PSS        Resident memory, with each shared page divided by those who share it.
        private    Resident memory that no other process has.
        shared     The rest of the resident memory; in the total, each page once.
        swap       What is swapped out, divided like PSS.
        sharing    shared / (private + shared): with the mold, the other workers, and
                   all that have the same libraries; Linux does not tell them apart.
        heap       The pages of Ruby's heap.
        live       Slots of the heap that have an object, or one to be collected.
        free       Slots of the heap that have none.
        malloc     What the program has allocated outside of the heap and not freed.
        allocator  Who gives that memory.
        GC         Share of its CPU time that the worker has spent collecting garbage.
        requests   How many requests the worker was given.

        What n workers weigh is a + b n: b is the mean of what a worker has private, and
        a is all the rest of the PSS, that is the edge, the mold, and what is shared.
        Without sharing they would weigh: the edge's PSS, and for each worker its
        anonymous memory in full and, as it is, its part of the mapped files, such as
        libraries, which processes share in any case.
      TEXT

      def to_s
        TEXT
      end
    end
  end
end
