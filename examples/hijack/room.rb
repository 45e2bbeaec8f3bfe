# frozen_string_literal: true

# The members, and the one thread that serves all of them.
class Room
  def initialize
    @arrivals = Queue.new
    @members = {}
    @lock = Mutex.new
  end

  # Any thread may call it.
  def join(member)
    @lock.synchronize { start } # after the fork: the mold has no threads
    @arrivals << member
    @waker.write_nonblock(".", exception: false)
  end

  private

  def start
    return if @thread&.alive?

    @woken, @waker = IO.pipe
    @thread = Thread.new { run }
  end

  def run
    loop do
      unsent = @members.filter_map { |socket, member| socket if member.unsent? }
      readable, writable = IO.select([@woken, *@members.keys], unsent)
      welcome if readable.delete(@woken)
      readable.each { |socket| @members[socket].receive || leave(socket) }
      writable.each { |socket| @members[socket]&.flush }
      @members.select { |_socket, member| member.over? }.each_key { |socket| leave(socket) }
    end
  end

  def welcome
    @woken.read_nonblock(1024, exception: false)
    until @arrivals.empty?
      member = @arrivals.pop
      @members[member.socket] = member
      member.start { |text| tell(text) }
      tell("somebody has joined: #{@members.size} here")
    end
  end

  def leave(socket)
    @members.delete(socket)&.close
    tell("somebody has left: #{@members.size} here")
  end

  def tell(text)
    @members.each_value { |member| member.send_text(text) }
  end
end
