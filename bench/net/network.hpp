// What a network must do to be measured. Plain MPI (mpi.cpp) and Cleave's transports
// (transport.cpp) implement it; a message goes from a buffer of the sender's to one of the
// receiver's over both.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace bench::net {

// All ranks call the same in the same order. Between two ranks messages arrive in order.
class network {
public:
  virtual ~network() = default;

  virtual std::string name() const = 0;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  // Returns when the buffer may be used again.
  virtual void send(int to, std::span<const std::byte> message) = 0;
  // Begins to send; the buffer must stay as it is until complete(), which ends all that was begun.
  virtual void post(int to, std::span<const std::byte> message) = 0;
  virtual void complete() = 0;
  // Waits for a message of exactly this length. Throws std::runtime_error if there is none.
  virtual void receive(int from, std::span<std::byte> message) = 0;
  virtual void barrier() = 0;

  // Ends this process, which something has gone wrong in: the others, which may wait for it, end
  // too.
  [[noreturn]] virtual void give_up(int status) = 0;

  // The library's own broadcast from rank 0, where it has one.
  virtual bool has_broadcast() const { return false; }
  virtual void broadcast(std::span<std::byte>) {}
};

}  // namespace bench::net
