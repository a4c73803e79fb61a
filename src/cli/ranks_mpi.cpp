// Instead of ranks.cpp in builds with WASMFORMER_MPI: MPI 3.1, https://www.mpi-forum.org/docs.
// Without the C++ functions that MPI 3 dropped.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/ranks.h"
#include "schema/error.h"

namespace wasmformer {
namespace {

// MPI ends all ranks when one of its functions fails, so that no return value needs a check.
class MpiCommunicator : public Communicator {
  static_assert(std::is_same_v<Scalar, float>, "begin_sum() sends floats");

 public:
  explicit MpiCommunicator(unsigned count) {
    // Open MPI's default is a tree, whose root sends all gradients log2(ranks) times. In a ring (1), each rank sends
    // less than twice their size; Rabenseifner's algorithm (3) does it in fewer messages if ranks are a power of two.
    setenv("OMPI_MCA_coll_libnbc_iallreduce_algorithm", std::has_single_bit(count) ? "3" : "1", /*overwrite=*/0);
    int provided;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiCommunicator() override { MPI_Finalize(); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void sum(std::span<double> values) override {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  void begin_sum(std::span<Scalar> values) override {
    constexpr std::size_t most = 1 << 22;  // counts are ints, and smaller messages travel while others are added
    for (std::size_t at = 0; at < values.size(); at += most) {
      const auto part = values.subspan(at, std::min(most, values.size() - at));
      MPI_Iallreduce(MPI_IN_PLACE, part.data(), static_cast<int>(part.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                     &open_.emplace_back());
    }
  }
  void advance_sums() override {
    int done;
    MPI_Testall(static_cast<int>(open_.size()), open_.data(), &done, MPI_STATUSES_IGNORE);
  }
  void finish_sums() override {
    MPI_Waitall(static_cast<int>(open_.size()), open_.data(), MPI_STATUSES_IGNORE);
    open_.clear();
  }

  void send(int to, const std::string& text) override {
    WASMFORMER_CHECK(std::in_range<int>(text.size()), ErrorCode::mpi,
                     "a message of " << text.size() << " bytes is too long; the limit is 2 GiB");
    MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, to, 0, MPI_COMM_WORLD);
  }
  std::string receive(int from) override {
    MPI_Status status;
    MPI_Probe(from, 0, MPI_COMM_WORLD, &status);
    int size;
    MPI_Get_count(&status, MPI_CHAR, &size);
    std::string text(static_cast<std::size_t>(size), '\0');
    MPI_Recv(text.data(), size, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return text;
  }

 private:
  int rank_ = 0, size_ = 1;
  std::vector<MPI_Request> open_;
};

// The number of ranks that Open MPI, MPICH or Slurm started; ~0 if unknown; 0 if alone, which needs no MPI_Init.
unsigned started_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* count = std::getenv(name)) return static_cast<unsigned>(std::atoi(count));
  return std::getenv("PMIX_RANK") ? ~0u : 0;
}

}  // namespace

Communicator& ranks() {
  static Communicator alone;
  if (started_ranks() == 0) return alone;
  static MpiCommunicator together(started_ranks());
  return together;
}

void fail_together(const char* problem, int exit_code) {
  if (ranks().size() == 1) return;
  // If all ranks fail on the same file, the others wait, so that the first can report it and end them. That can take
  // more than a second on a busy machine.
  if (!ranks().is_first()) std::this_thread::sleep_for(std::chrono::seconds(5));
  std::fprintf(stderr, "wasmformer: rank %d: %s\n", ranks().rank(), problem);
  MPI_Abort(MPI_COMM_WORLD, exit_code);
}

}  // namespace wasmformer
