// A file of the user's that knows nothing of the library and uses the system's Eigen.
#include <Eigen/Core>

using RowMajorMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

float sum_of_transposed(int size) {
  const RowMajorMatrix ones = RowMajorMatrix::Ones(size, size);
  const RowMajorMatrix transposed = ones.transpose();
  return transposed.sum();
}
