# frozen_string_literal: true

bind "tcp://127.0.0.1:9292"
workers 2
threads 5 # `fibers 256` works too
cable "/cable" # the edge has the sockets
