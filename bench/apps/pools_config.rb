# frozen_string_literal: true

# The config file of carat-t5-pool.
pool "slow", paths: "/sleep", threads: 2
