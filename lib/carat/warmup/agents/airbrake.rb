# frozen_string_literal: true

module Carat
  module Warmup
    module Agents
      # Airbrake, whose library airbrake-ruby 6.2 has threads that send errors and statistics, that collect statistics,
      # that send again what was refused, and that ask for settings. In a fork it starts only the first of these again,
      # and would send once more the errors that its parent has not sent yet.
      module Airbrake
        NOTIFIERS = %i[@notice_notifier @performance_notifier].freeze
        private_constant :NOTIFIERS

        module_function

        # Prepares a forked process: the next error and the next statistics start threads, and what it has inherited is
        # its parent's to send.
        def start
          renew_threads
          backlogs.each { |backlog| drop(backlog) }
          statistics&.instance_exec { @payload.clear }
          settings = ::Airbrake.instance_variable_get(:@remote_settings) or return
          settings.instance_variable_set(:@poll, nil)
          settings.poll
        end

        # Sends the statistics and the errors, and ends the threads that send them.
        def finish
          statistics&.instance_exec do
            @payload.synchronize do
              @schedule_flush&.kill
              send(@sync_sender, @payload, ::Airbrake::Promise.new) if @payload.any?
              @payload.clear
            end
          end
          senders.filter_map { |it| pool(it) }.reject(&:closed?).each(&:close)
        end

        # Sends the statistics and the errors. The next ones start threads.
        def flush
          finish
          renew_threads
        end

        def notifiers = NOTIFIERS.filter_map { |name| ::Airbrake.instance_variable_get(name) }

        def statistics = ::Airbrake.instance_variable_get(:@performance_notifier)

        def senders = notifiers.map { |it| it.instance_variable_get(:@async_sender) }

        def pool(sender) = sender.instance_variable_get(:@thread_pool)

        def renew_threads
          senders.each { |it| it.instance_variable_set(:@thread_pool, nil) }
          statistics&.instance_variable_set(:@schedule_flush, nil)
        end

        # What Airbrake has refused for the time being: each sender keeps its own.
        def backlogs
          direct = notifiers.map { |it| it.instance_variable_get(:@sync_sender) }
          pooled = senders.map { |it| it.instance_variable_get(:@sync_sender) }
          (direct + pooled).filter_map { |it| it.instance_variable_get(:@backlog) }
        end

        def drop(backlog)
          backlog.instance_exec do
            @queue.clear
            @seen.clear
            @schedule_flush = nil
          end
        end

        private_class_method :notifiers, :statistics, :senders, :pool, :renew_threads, :backlogs, :drop
      end
    end
  end
end
