# frozen_string_literal: true

module Bench
  # What the processes of a server use, read again and again over hours.
  class ProcessReadings
    FIGURES = %i[pss_mb private_mb descriptors threads].freeze
    HOUR_SECONDS = 3600.0
    # A process grows while it warms up: this part of its readings does not count.
    WARM_SHARE = 4
    # Processes with fewer readings than this are not told from those that are still warming up.
    LEAST_READINGS = 20

    # group: "edge", "mold gen=1", "worker gen=2".
    Reading = Struct.new(:seconds, :group, :pid, *FIGURES, keyword_init: true)

    def initialize
      @readings = []
    end

    # Reads all processes of a Server once. seconds: since the start.
    def read(server, seconds)
      members = server.members_by_role
      members.each { |role, list| list.each { |member| add(reading(role, member, seconds)) } }
      members.transform_values(&:size)
    end

    def add(reading)
      @readings << reading if reading
    end

    # Group => a Hash that JSON can carry: number of processes and readings, minutes of the first and the last, and for
    # each figure the means of its first and last tenth, the growth in an hour, and its margin (see Slope).
    def growth
      groups = @readings.group_by(&:group).transform_values { |list| settled(list) }
      groups.reject { |_, series| series.empty? }.transform_values { |series| summary(series) }
    end

    private

    # nil for a process that has ended meanwhile.
    def reading(role, member, seconds)
      generation = member.title[/ gen=\d+/] unless role == "edge"
      Reading.new(seconds: seconds, group: "#{role}#{generation}", pid: member.pid,
                  pss_mb: Number.mb(member.memory.pss), private_mb: Number.mb(member.memory.private_bytes),
                  descriptors: ProcFs.descriptors(member.pid), threads: ProcFs.threads(member.pid))
    rescue Errno::ENOENT, Errno::ESRCH
      nil
    end

    # The readings that count, by process.
    def settled(readings)
      long = readings.group_by(&:pid).values.select { |list| list.size >= LEAST_READINGS }
      long.map { |list| list.drop(list.size / WARM_SHARE) }
    end

    def summary(series)
      { processes: series.size, readings: series.sum(&:size),
        minutes: series.flatten.map(&:seconds).minmax.map { |seconds| seconds / 60 },
        **FIGURES.to_h { |figure| [figure, trend(series, figure)] } }
    end

    def trend(series, figure)
      slope = Slope.of(series.map { |list| list.map { |reading| [reading.seconds / HOUR_SECONDS, reading[figure]] } })
      { from: mean(series, figure, :first), to: mean(series, figure, :last), per_hour: slope&.per_x,
        margin: slope&.margin }
    end

    def mean(series, figure, which)
      Statistics.mean(series.flat_map { |list| list.public_send(which, (list.size / 10.0).ceil) }
                            .map { |reading| reading[figure] })
    end
  end
end
