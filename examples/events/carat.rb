# frozen_string_literal: true

bind "tcp://127.0.0.1:9292"
fibers 5000
static "public"
