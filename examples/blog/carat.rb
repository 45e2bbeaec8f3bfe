# frozen_string_literal: true

bind "tcp://127.0.0.1:9292"
workers 2
threads 5 # or `fibers 256`: the blog does not mind
max_body "64KB"
