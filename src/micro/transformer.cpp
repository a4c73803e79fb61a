// "Attention Is All You Need" (Vaswani et al. 2017), section by section, with the C++ standard library alone.
// It learns to reverse words: it reads "attention" and writes "noitnetta".
//
//   c++ -O2 -std=c++20 transformer.cpp -o transformer && ./transformer
//
// Names are those of the paper. Each row of a matrix is a token, so a projection is x W, not W x.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <functional>
#include <random>
#include <utility>
#include <vector>

using std::cos, std::exp, std::log, std::max, std::min, std::pow, std::sin, std::sqrt, std::vector;

// The sizes of table 3, each with that of the model "base".
constexpr int N = 1;                   // layers of each stack; base: 6
constexpr int d_model = 32;            // features of a token; base: 512
constexpr int d_ff = 64;               // inner features of the feed-forward network; base: 2048
constexpr int h = 4;                   // heads; base: 8
constexpr int d_k = d_model / h;       // features of a query and of a key in a head; base: 64
constexpr int d_v = d_model / h;       // features of a value in a head; base: 64
constexpr double epsilon_ls = 0.1;     // label smoothing; base: 0.1
double P_drop = 0;                     // share dropped; base: 0.1, but here hardly a word comes twice
constexpr double norm_epsilon = 1e-5;  // of layer norm; not stated

// The vocabulary: the tokens that begin and end a sequence, then the letters.
using Tokens = vector<int>;
constexpr int begin_token = 0, end_token = 1, letter_a = 2, vocabulary = letter_a + 26;

// ------------------ Before the paper: matrices, and the gradient of the loss by each ------------------
struct Node {
  int rows, cols;
  vector<double> value, gradient = vector<double>(rows * cols);
  std::function<void()> backward = {};  // passes the gradient on to what this was computed from
  vector<double> m = {}, v = {};        // of parameters: see adam()
};
std::deque<Node> parameters;  // what is learned
std::deque<Node> tape;        // all else, in the order in which it was computed

// A node in a formula.
struct Var {
  Node* node;
  int rows() const { return node->rows; }
  int cols() const { return node->cols; }
  double& at(int row, int col) const { return node->value[row * node->cols + col]; }
  double& grad(int row, int col) const { return node->gradient[row * node->cols + col]; }
};

Var matrix(int rows, int cols, double value = 0) {
  tape.push_back({rows, cols, vector<double>(rows * cols, value)});
  return {&tape.back()};
}

// The chain rule, from the last result to the first.
void backward(Var loss) {
  loss.grad(0, 0) = 1;
  for (auto node = tape.rbegin(); node != tape.rend(); ++node)
    if (node->backward) node->backward();
}

// C = A B, so dA = dC B^T and dB = A^T dC.
Var operator*(Var A, Var B) {
  Var C = matrix(A.rows(), B.cols());
  for (int i = 0; i < A.rows(); ++i)
    for (int k = 0; k < A.cols(); ++k)
      for (int j = 0; j < B.cols(); ++j) C.at(i, j) += A.at(i, k) * B.at(k, j);
  C.node->backward = [=] {
    for (int i = 0; i < A.rows(); ++i)
      for (int j = 0; j < B.cols(); ++j)
        for (int k = 0; k < A.cols(); ++k) {
          A.grad(i, k) += C.grad(i, j) * B.at(k, j);
          B.grad(k, j) += C.grad(i, j) * A.at(i, k);
        }
  };
  return C;
}

// z = f(x, y) of each entry; f also gives dz/dx and dz/dy. A single row or column of y stands for all.
struct Entry {
  double z, dx, dy = 0;
};
Var each(Var x, Var y, Entry (*f)(double, double)) {
  Var z = matrix(x.rows(), x.cols());
  for (int i = 0; i < x.rows(); ++i)
    for (int j = 0; j < x.cols(); ++j) z.at(i, j) = f(x.at(i, j), y.at(i % y.rows(), j % y.cols())).z;
  z.node->backward = [=] {
    for (int i = 0; i < x.rows(); ++i)
      for (int j = 0; j < x.cols(); ++j) {
        const Entry entry = f(x.at(i, j), y.at(i % y.rows(), j % y.cols()));
        x.grad(i, j) += z.grad(i, j) * entry.dx;
        y.grad(i % y.rows(), j % y.cols()) += z.grad(i, j) * entry.dy;
      }
  };
  return z;
}

// A matrix of entries of others; `place` says where a row and column comes from.
struct Place {
  Var x;
  int row, col;
};
Var gather(int rows, int cols, const std::function<Place(int, int)>& place) {
  Var y = matrix(rows, cols);
  vector<Place> places;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) places.push_back(place(i, j));
  for (std::size_t k = 0; k < places.size(); ++k)
    y.node->value[k] = places[k].x.at(places[k].row, places[k].col);
  y.node->backward = [y, places] {
    for (std::size_t k = 0; k < places.size(); ++k)
      places[k].x.grad(places[k].row, places[k].col) += y.node->gradient[k];
  };
  return y;
}

// clang-format off
Var operator+(Var x, Var y) { return each(x, y, [](double a, double b) { return Entry{a + b, 1, 1}; }); }
Var operator-(Var x, Var y) { return each(x, y, [](double a, double b) { return Entry{a - b, 1, -1}; }); }
Var times(Var x, Var y) { return each(x, y, [](double a, double b) { return Entry{a * b, b, a}; }); }
Var times(Var x, double factor) { return times(x, matrix(1, 1, factor)); }
Var inverse(Var x) { return each(x, x, [](double a, double) { return Entry{1 / a, -1 / (a * a)}; }); }
Var operator/(Var x, Var y) { return times(x, inverse(y)); }
Var sqrt(Var x) { return each(x, x, [](double a, double) { return Entry{sqrt(a), 0.5 / sqrt(a)}; }); }
Var exp(Var x) { return each(x, x, [](double a, double) { return Entry{exp(a), exp(a)}; }); }
Var log(Var x) { return each(x, x, [](double a, double) { return Entry{log(a), 1 / a}; }); }
Var relu(Var x) { return each(x, x, [](double a, double) { return Entry{max(a, 0.0), a > 0 ? 1.0 : 0}; }); }
Var transpose(Var x) { return gather(x.cols(), x.rows(), [=](int i, int j) { return Place{x, j, i}; }); }
// clang-format on

// Random numbers in [0, 1), the same on every machine.
std::mt19937_64 generator(1);
double uniform() { return static_cast<double>(generator() >> 11) * 0x1p-53; }

// A parameter that begins at random in [center - limit, center + limit); a weight as Glorot and Bengio 2010.
Var parameter(int rows, int cols, double limit, double center) {
  Node& p = parameters.emplace_back(Node{rows, cols, vector<double>(rows * cols)});
  p.m = p.v = p.value;
  for (double& x : p.value) x = center + limit * (2 * uniform() - 1);
  return {&p};
}
Var weight(int rows, int cols) { return parameter(rows, cols, sqrt(6.0 / (rows + cols)), 0); }

// ---------------------------------------------- 3.2 Attention ----------------------------------------------
// Softmax of each row: e^x / (sum of e^x).
Var softmax(Var x) {
  Var e = exp(x);
  return e / (e * matrix(x.cols(), 1, 1));
}

// 3.2.3: a query does not see later keys: their scores become -infinity.
Var mask_future(Var scores) {
  Var mask = matrix(scores.rows(), scores.cols());
  for (int query = 0; query < mask.rows(); ++query)
    for (int key = query + 1; key < mask.cols(); ++key) mask.at(query, key) = -INFINITY;
  return scores + mask;
}

// 3.2.1, equation 1: Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V
Var attention(Var Q, Var K, Var V, bool is_masked) {
  Var scores = times(Q * transpose(K), 1 / sqrt(d_k));
  return softmax(is_masked ? mask_future(scores) : scores) * V;
}

// 3.2.2: head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V)
struct Head {
  Var W_Q = weight(d_model, d_k), W_K = weight(d_model, d_k), W_V = weight(d_model, d_v);
  Var operator()(Var Q, Var K, Var V, bool is_masked) const {
    return attention(Q * W_Q, K * W_K, V * W_V, is_masked);
  }
};

// 3.2.2: MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O
struct MultiHeadAttention {
  vector<Head> heads = vector<Head>(h);
  Var W_O = weight(h * d_v, d_model);
  Var operator()(Var Q, Var K, Var V, bool is_masked) const {
    vector<Var> head;
    for (const Head& head_i : heads) head.push_back(head_i(Q, K, V, is_masked));
    Var concat = gather(Q.rows(), h * d_v, [&](int i, int j) { return Place{head[j / d_v], i, j % d_v}; });
    return concat * W_O;
  }
};

// -------------------------------- 3.3 Position-wise Feed-Forward Networks --------------------------------
// Equation 2: FFN(x) = max(0, x W_1 + b_1) W_2 + b_2
struct FeedForward {
  Var W_1 = weight(d_model, d_ff), b_1 = parameter(1, d_ff, 0, 0);
  Var W_2 = weight(d_ff, d_model), b_2 = parameter(1, d_model, 0, 0);
  Var operator()(Var x) const { return relu(x * W_1 + b_1) * W_2 + b_2; }
};

// ------------------------- 3.4 Embeddings and Softmax, 3.5 Positional Encoding -------------------------
// 3.4: the tokens' rows of the matrix E, times sqrt(d_model).
Var embedding(Var E, const Tokens& tokens) {
  Var rows = gather(tokens.size(), d_model, [&](int i, int j) { return Place{E, tokens[i], j}; });
  return times(rows, sqrt(d_model));
}

// 3.5: PE(pos, 2i) = sin(pos / 10000^(2i / d_model)), PE(pos, 2i + 1) = cos(pos / 10000^(2i / d_model))
Var positional_encoding(int length) {
  Var PE = matrix(length, d_model);
  for (int pos = 0; pos < length; ++pos)
    for (int i = 0; i < d_model / 2; ++i) {
      PE.at(pos, 2 * i) = sin(pos / pow(10000, 2.0 * i / d_model));
      PE.at(pos, 2 * i + 1) = cos(pos / pow(10000, 2.0 * i / d_model));
    }
  return PE;
}

// ------------------------------- 3.1 Encoder and Decoder Stacks -------------------------------
// Layer normalization (Ba et al. 2016): of each row, (x - mean) / sqrt(variance + epsilon) gamma + beta.
struct LayerNorm {
  Var gamma = parameter(1, d_model, 0, 1), beta = parameter(1, d_model, 0, 0);
  Var operator()(Var x) const {
    Var average = matrix(d_model, 1, 1.0 / d_model);  // x * average: the mean of each row
    Var centered = x - x * average;
    Var variance = times(centered, centered) * average;
    return times(centered / sqrt(variance + matrix(1, 1, norm_epsilon)), gamma) + beta;
  }
};

// 5.4: a share P_drop of the entries becomes 0, and the others grow to make up for it.
bool is_training = false;
Var dropout(Var x) {
  if (!is_training || P_drop == 0) return x;
  Var mask = matrix(x.rows(), x.cols());
  for (double& kept : mask.node->value) kept = uniform() < P_drop ? 0 : 1 / (1 - P_drop);
  return times(x, mask);
}

// 3.1: the output of each sub-layer is LayerNorm(x + Sublayer(x)).
struct EncoderLayer {
  MultiHeadAttention self_attention;
  FeedForward feed_forward;
  LayerNorm norm_1, norm_2;
  Var operator()(Var x) const {
    x = norm_1(x + dropout(self_attention(x, x, x, false)));
    return norm_2(x + dropout(feed_forward(x)));
  }
};

struct DecoderLayer {
  MultiHeadAttention self_attention, cross_attention;
  FeedForward feed_forward;
  LayerNorm norm_1, norm_2, norm_3;
  Var operator()(Var x, Var memory) const {
    x = norm_1(x + dropout(self_attention(x, x, x, true)));
    x = norm_2(x + dropout(cross_attention(x, memory, memory, false)));
    return norm_3(x + dropout(feed_forward(x)));
  }
};

// Figure 1
struct Transformer {
  Var E = weight(vocabulary, d_model);  // 3.4: one matrix for both embeddings and the output
  vector<EncoderLayer> encoder = vector<EncoderLayer>(N);
  vector<DecoderLayer> decoder = vector<DecoderLayer>(N);
  Var input(const Tokens& tokens) const {
    return dropout(embedding(E, tokens) + positional_encoding(tokens.size()));
  }
  Var encode(const Tokens& source) const {
    Var x = input(source);
    for (const EncoderLayer& layer : encoder) x = layer(x);
    return x;
  }
  // The probabilities of the token after each of the target's.
  Var decode(const Tokens& target, Var memory) const {
    Var x = input(target);
    for (const DecoderLayer& layer : decoder) x = layer(x, memory);
    return softmax(x * transpose(E));
  }
};

// ---------------------------------------------- 5 Training ----------------------------------------------
// 5.1: the data are words of 3 to 10 random letters, and the same reversed.
using Pair = std::pair<Tokens, Tokens>;
Pair random_pair() {
  Tokens word(3 + generator() % 8);
  for (int& letter : word) letter = letter_a + generator() % 26;
  Pair pair = {word, {word.rbegin(), word.rend()}};
  pair.first.push_back(end_token);
  pair.second.push_back(end_token);
  return pair;
}

// 5.4: -(sum of q log p) / total, where q leaves a share epsilon_ls to all tokens alike. At best 0.635, as
// no p can do better than q itself.
Var cross_entropy(Var p, const Tokens& expected, double total) {
  Var q = matrix(p.rows(), vocabulary, epsilon_ls / vocabulary);
  for (int i = 0; i < p.rows(); ++i) q.at(i, expected[i]) += 1 - epsilon_ls;
  return matrix(1, p.rows(), -1 / total) * times(q, log(p)) * matrix(vocabulary, 1, 1);
}

// Adds the gradient of a batch to the parameters'. Returns the loss, its mean over the target tokens.
double learn(const Transformer& model, const vector<Pair>& batch) {
  double total = 0, loss = 0;
  for (const auto& [source, target] : batch) total += target.size();
  is_training = true;
  for (const auto& [source, target] : batch) {
    Tokens shifted_right = {begin_token};  // 3.1: a prediction knows only the outputs before it
    shifted_right.insert(shifted_right.end(), target.begin(), target.end() - 1);
    Var part = cross_entropy(model.decode(shifted_right, model.encode(source)), target, total);
    backward(part);
    loss += part.at(0, 0);
    tape.clear();
  }
  is_training = false;
  return loss;
}

// 5.3, equation 3
double lrate(int step_num, int warmup_steps) {
  return pow(d_model, -0.5) * min(pow(step_num, -0.5), step_num * pow(warmup_steps, -1.5));
}

// 5.3: Adam (Kingma and Ba 2015). m and v are moving averages of the gradient and of its square.
void adam(int step_num, double rate) {
  constexpr double beta_1 = 0.9, beta_2 = 0.98, epsilon = 1e-9;
  const double m_share = 1 - pow(beta_1, step_num), v_share = 1 - pow(beta_2, step_num);
  for (Node& p : parameters)
    for (std::size_t i = 0; i < p.value.size(); ++i) {
      p.m[i] = beta_1 * p.m[i] + (1 - beta_1) * p.gradient[i];
      p.v[i] = beta_2 * p.v[i] + (1 - beta_2) * p.gradient[i] * p.gradient[i];
      p.value[i] -= rate * p.m[i] / m_share / (sqrt(p.v[i] / v_share) + epsilon);
      p.gradient[i] = 0;
    }
}

// ---------------------------------------------- 6 Results ----------------------------------------------
// 6.1: the mean of the last checkpoints does better than the last one.
void average(const vector<std::deque<Node>>& checkpoints) {
  for (Node& p : parameters) p.value.assign(p.value.size(), 0);
  for (const auto& checkpoint : checkpoints)
    for (std::size_t k = 0; k < parameters.size(); ++k)
      for (std::size_t i = 0; i < parameters[k].value.size(); ++i)
        parameters[k].value[i] += checkpoint[k].value[i] / checkpoints.size();
}

// Takes the most probable token each time, until that is the end; 6.1 searches with beams.
Tokens decode_greedily(const Transformer& model, const Tokens& source) {
  Var memory = model.encode(source);
  Tokens target = {begin_token};
  while (target.back() != end_token && target.size() < 2 * source.size()) {
    Var p = model.decode(target, memory);
    const double* last = &p.at(p.rows() - 1, 0);
    target.push_back(std::max_element(last, last + vocabulary) - last);
  }
  tape.clear();
  return {target.begin() + 1, target.end()};
}

double percent_right(const Transformer& model, int words) {
  int right = 0;
  for (int i = 0; i < words; ++i) {
    const auto [source, target] = random_pair();
    if (decode_greedily(model, source) == target) ++right;
  }
  return 100.0 * right / words;
}

int main() {
  constexpr int steps = 1000, batch_size = 32, warmup_steps = 300, interval = 20;
  const Transformer model;
  vector<std::deque<Node>> checkpoints;
  for (int step = 1; step <= steps; ++step) {
    vector<Pair> batch(batch_size);
    std::generate(batch.begin(), batch.end(), random_pair);
    const double loss = learn(model, batch);
    adam(step, lrate(step, warmup_steps));
    if (step > steps - 10 * interval && step % interval == 0) checkpoints.push_back(parameters);
    if (step % 100 > 0) continue;
    std::printf("step %d: loss %.3f, reversed rightly: %.0f %%\n", step, loss, percent_right(model, 100));
  }
  average(checkpoints);
  std::printf("mean of 10 checkpoints, reversed rightly: %.1f %%\n", percent_right(model, 1000));
  return 0;
}
