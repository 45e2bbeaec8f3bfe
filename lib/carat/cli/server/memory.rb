# frozen_string_literal: true

require_relative "../control/control_command"
require_relative "memory/table"

module Carat
  module CLI
    # `carat memory`.
    class Memory
      include ControlCommand

      # The words after `Usage: carat` in the help.
      USAGE = "memory [--pid PID | --control-socket PATH] [--json]"

      # The sentence in the list of subcommands.
      SUMMARY = "Shows the memory of a running server's processes."
      LEGEND = <<~TEXT
        Without a flag, the server is the one on the control_socket of the
        configuration, or else the only one that you run.

        process    The edge, the mold, the workers by number, and each `process` of the
                   config file by name, with what it has forked.
        pid        The process id.
        gen        The generation: how many molds there have been, this one included.
        PSS        Resident memory, with each shared page divided by its sharers.
        private    Resident memory that no other process maps.
        shared     The rest of the resident memory; in the total, each page once.
        swap       Swapped-out memory, divided like PSS.
        sharing    shared / (private + shared): with the mold, the other workers, and
                   all processes with the same libraries; Linux does not separate them.
        heap       The pages of Ruby's heap.
        live       Heap slots that hold an object, dead ones included until the next GC.
        free       Heap slots that hold none.
        malloc     Memory allocated outside of Ruby's heap and not freed.
        allocator  The allocator of that memory.
        JIT        Machine code of YJIT or ZJIT, and what describes it (part of malloc).
        GC         Share of the worker's CPU time that garbage collection takes.
        requests   Requests dispatched to the worker.

        n workers take a + b n: b is the mean private memory of a worker, and a is the
        rest of the PSS, that is the edge, the mold, and all that is shared.
        Without sharing they would take the edge's PSS and, for each worker, its
        anonymous memory in full plus its PSS of mapped files, such as libraries,
        which processes share in any case.
        The used part of the budget is the processes, what is kept for clients
        (client_memory), and, where the container sets the limit, others in it.
      TEXT
      private_constant :LEGEND

      # Prints a table, or with `--json` the server's report in ASCII. Raises ConfigError and ControlError.
      def run
        refuse_arguments
        report = ask(:get, "/memory")
        show("a memory report") { @json ? json(report) : Table.new(report).to_s }
      end

      private

      def more_flags(parser)
        parser.on("--json", "Print the server's JSON, sizes in bytes") { @json = true }
      end
    end
  end
end
