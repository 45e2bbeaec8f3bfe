# frozen_string_literal: true

require "etc"
require_relative "../../config_error"
require_relative "../rule"
require_relative "gc_variable"

module Carat
  module Config
    module Type
      # Types of words, and of values that words stand for.
      module Words
        TRUTHS = { "true" => true, "yes" => true, "on" => true, "1" => true,
                   "false" => false, "no" => false, "off" => false, "0" => false }.freeze
        BITS = 0o777
        POLICIES = %w[frugal ruby].freeze
        private_constant :BITS, :POLICIES, :TRUTHS

        # Returns the Rule for the name or id of an account. The block looks the name up, and raises ArgumentError for
        # an unknown one.
        def self.account(noun)
          Rule.new("NAME") do |value|
            name = value.to_s
            yield name unless name.match?(/\A\d{1,9}\z/)
            name
          rescue ArgumentError
            raise InvalidValue, "there is no #{noun} #{value.inspect}"
          end
        end
        private_class_method :account

        # True or false, and their synonyms.
        BOOLEAN = Rule.new(nil, text: :to_s.to_proc) do |value|
          TRUTHS.fetch(value.to_s.downcase) { raise InvalidValue, "#{value.inspect} is not true or false" }
        end

        # A String or Symbol that is not blank.
        TEXT = Rule.new("NAME") do |value|
          next value.to_s if (value.is_a?(String) || value.is_a?(Symbol)) && value.match?(/\S/)

          raise InvalidValue, value.to_s.strip.empty? ? "is empty" : "#{value.inspect} is not a name"
        end

        # Ends of paths, such as `lib/prices.rb`; the list may be empty.
        PATH_ENDS = Rule.new("PATH", text: ->(list) { list.join(",") }) do |values|
          Array(values).map { |value| TEXT.parse(value).delete_prefix("/") }
        end

        # The name of a user of this machine, or a user id.
        USER = account("user") { |name| Etc.getpwnam(name) }

        # The name of a group of this machine, or a group id.
        GROUP = account("group") { |name| Etc.getgrnam(name) }

        # A policy for the garbage collector: a word, or values by the names of Ruby's variables.
        GC = Rule.new(
          POLICIES.join("|"),
          text: ->(value) { value.is_a?(Hash) ? value.map { |name, figure| "#{name}=#{figure}" }.join(" ") : value }
        ) do |value|
          next value.to_s if POLICIES.include?(value.to_s)
          next value.to_h { |name, figure| GcVariable.parse(name, figure) } if value.is_a?(Hash) && value.any?

          raise InvalidValue, "#{value.inspect} is not a policy for the garbage collector, " \
                              'such as "frugal", "ruby" or heap_growth_factor: 1.1'
        end

        # A mask of permission bits: octal digits, or an Integer in the config file.
        UMASK = Rule.new("MASK", text: ->(mask) { format("%04o", mask) }) do |value|
          mask = value.is_a?(String) && value.match?(/\A[0-7]{1,4}\z/) ? Integer(value, 8) : value
          next mask if mask.is_a?(Integer) && (0..BITS).cover?(mask)

          raise InvalidValue, "#{value.inspect} is not an octal mask such as 027"
        end
      end
    end
  end
end
