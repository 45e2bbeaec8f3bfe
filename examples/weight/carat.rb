# frozen_string_literal: true

bind "tcp://127.0.0.1:9292"
workers 4
threads 1
warm_up "/", "/garbage"
