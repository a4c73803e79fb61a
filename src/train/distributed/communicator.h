// Communicator of the processes that train one model together, MPI's ranks. Size 1 without MPI; src/cli/ranks_mpi.cpp
// implements it with MPI.
#pragma once

#include <span>
#include <string>

#include "tensor/matrix.h"

namespace wasmformer {

// Every rank must call the same functions in the same order.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const { return 0; }
  virtual int size() const { return 1; }
  bool is_first() const { return rank() == 0; }

  // Adds the values of all ranks, in place.
  virtual void sum(std::span<double>) {}
  // Begins such a sum; do not touch the values until finish_sums().
  virtual void begin_sum(std::span<Scalar>) {}
  // Lets sums make progress. Call it often: many MPI libraries do nothing outside their calls.
  virtual void advance_sums() {}
  // Waits until all sums that have begun are complete.
  virtual void finish_sums() {}

  // Sends a text to another rank, and receives one from it. Both block until the other rank takes part; texts between
  // two ranks arrive in order.
  virtual void send(int /*to*/, const std::string& /*text*/) {}
  virtual std::string receive(int /*from*/) { return {}; }

  // True if any rank says so.
  bool any(bool mine) {
    double count = mine;
    sum({&count, 1});
    return count > 0;
  }
};

}  // namespace wasmformer
