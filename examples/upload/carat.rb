# frozen_string_literal: true

bind "tcp://127.0.0.1:9292"
workers 2
threads 3
max_body "4GB"
multipart "edge" # the edge writes the file; the page gets it open
