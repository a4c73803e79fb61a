// Programs that train one model together, as MPI calls them: ranks. This one is alone; src/cli/ranks_mpi.cpp has
// others.
#pragma once

#include <span>
#include <string>

#include "tensor/matrix.h"

namespace wasmformer {

// Every rank must call the same functions in the same order.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const { return 0; }
  virtual int size() const { return 1; }
  bool is_first() const { return rank() == 0; }

  // Adds the values of all ranks, in place.
  virtual void sum(std::span<double>) {}
  // Begins the same; the values belong to it until finish_sums().
  virtual void begin_sum(std::span<Scalar>) {}
  // Lets the sums go on, for systems that have no thread for it.
  virtual void poll() {}
  virtual void finish_sums() {}

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
