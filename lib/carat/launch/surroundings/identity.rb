# frozen_string_literal: true

require "etc"
require_relative "../../config/config_error"

module Carat
  module Launch
    # The user that the server becomes, by the options `user` and `group`. MoldEnvironment takes from it the variables
    # that a login of the user would set.
    class Identity
      # `configuration` is a Configuration, `euid` the user id of this process.
      def initialize(configuration, _environment = ENV, euid: Process.euid)
        @user, @group, @environment = %i[user group environment].map { |name| configuration[name] }
        @euid = euid
        @entry = entry
      end

      # Returns the user id of the server.
      def uid
        changes? ? target : @euid
      end

      # Returns a Hash that the edge needs to become the user, or nil when the user does not change. Raises ConfigError
      # when this process cannot become the user.
      def to_h
        refuse("group: needs user as well") if @group && !@user
        refuse("user: #{obstacle}") if @user && !allowed?

        { user: @entry&.name, uid: target, gid: } if changes?
      end

      # Returns the variables of a login, a Hash of Strings by name.
      def variables
        return {} unless changes? && @entry

        { "HOME" => @entry.dir, "USER" => @entry.name, "LOGNAME" => @entry.name }
      end

      # Returns the warning that the server runs as root, or nil. In development there is no warning.
      def warning
        return if @user || !@euid.zero? || @environment == "development"

        "the server runs as root: set user to one without privileges, or start carat as such a user"
      end

      private

      # Whether the edge has to become another user, which root is not for root.
      def changes?
        !@user.nil? && @euid.zero? && !target.zero?
      end

      def allowed?
        @euid.zero? || target == @euid
      end

      def obstacle
        return "only root can start a server of root: start carat as root, or leave user out" if target.zero?

        "only root can become #{@user}: start carat as root or as #{@user}"
      end

      def target
        @entry ? @entry.uid : Integer(@user, 10)
      end

      def gid
        if @group
          numeric?(@group) ? Integer(@group, 10) : Etc.getgrnam(@group).gid
        else
          @entry&.gid || refuse("user: #{@user} is unknown to this machine: set group as well")
        end
      end

      # The user's row in the user database; nil for a number that is not in it.
      def entry
        return if @user.nil?

        numeric?(@user) ? Etc.getpwuid(Integer(@user, 10)) : Etc.getpwnam(@user)
      rescue ArgumentError
        nil
      end

      def numeric?(name)
        name.match?(/\A\d+\z/)
      end

      def refuse(reason)
        raise Config::ConfigError, reason
      end
    end
  end
end
