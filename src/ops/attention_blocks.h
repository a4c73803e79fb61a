// Blocks of work of any kind of attention, one per head of a sentence, and their division among threads.
#pragma once

#include <span>

#include "autograd/tape.h"
#include "ops/attention_options.h"

namespace wasmformer {

// One head of one sentence: L queries from row `query` on, S keys from row `key` on.
struct AttentionBlock {
  Index query, key, L, S;
  Span key_columns;    // of q and k
  Span value_columns;  // of v and of the result
  Index sentence, head;
  Index first;  // the number of its first probability, which dropout counts
  Index step;   // distance to that of the next row
  Index visible(Index i, bool causal) const { return causal ? S - L + i + 1 : S; }  // keys that query i sees
};

// Stride of the dropout counter per query row, so that a mask does not depend on the rest of the batch. With 8 heads
// masks repeat after 32,768 queries, since counters have 32 bits.
inline constexpr Index numbered_keys = 1 << 14;

// The blocks of a call, in the tape's memory, and chunks of them with about equal work, few enough that their
// scratch memory is small. They depend on the shapes only.
struct AttentionPlan {
  std::span<const AttentionBlock> blocks;
  Index grain = 1, chunks = 0, max_queries = 0, max_keys = 0;
};

// Checks what attention() is called with, and prepares its probabilities.
AttentionPlan plan_attention(Tape& tape, Var q, Var k, Var v, std::span<const Span> query_spans,
                             std::span<const Span> key_spans, const AttentionOptions& options);

// Calls f(block, memory) for every block, several threads at a time. Each chunk has its own `size` numbers of
// `memory`.
template <class F>
void for_blocks(ThreadPool& pool, const AttentionPlan& plan, Scalar* memory, Index size, F&& f) {
  pool.parallel_for(static_cast<Index>(plan.blocks.size()), plan.grain, [&](Index begin, Index end) {
    for (Index n = begin; n < end; ++n) f(plan.blocks[n], memory + begin / plan.grain * size);
  });
}

}  // namespace wasmformer
