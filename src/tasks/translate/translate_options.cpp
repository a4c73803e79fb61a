#include "tasks/translate/translate_options.h"

#include "schema/error.h"

namespace wasmformer {

TranslateOptions greedy() {
  TranslateOptions options;
  options.beam_size = 1;
  return options;
}

TranslateOptions checked(TranslateOptions o, const Config& config, Naming naming) {
  check_ranges(fields(o), "translate", naming);
  check_glossary(o.glossary, naming);
  WASMFORMER_CHECK(!config.is_encoder(), ErrorCode::translate,
                   "this is an encoder-only model: it has no decoder to translate with");
  const auto name = [naming](const char* option) { return named(option, naming); };
  WASMFORMER_CHECK(!o.sampling || !o.beam_trace, ErrorCode::translate,
                   name("beam_trace") << " needs beam search; it is not available with sampling");
  if (o.sampling) o.beam_size = 1;
  WASMFORMER_CHECK(!o.full_vocabulary || o.shortlist != ShortlistUse::on, ErrorCode::translate,
                   "shortlist is on, but " << name("full_vocabulary") << " is the same as off; leave one of them out");
  if (o.full_vocabulary) o.shortlist = ShortlistUse::off;
  WASMFORMER_CHECK(o.n_best <= o.beam_size, ErrorCode::translate,
                   name("n_best") << " is " << o.n_best << ", but " << name("beam_size") << " is " << o.beam_size);
  WASMFORMER_CHECK(
      o.max_length <= config.max_length, ErrorCode::translate,
      name("max_length") << " is " << o.max_length << ", but the model's max_length is " << config.max_length);
  for (std::size_t i = 0; i < o.masked_heads.size(); ++i) {
    const auto& [attention, layer, head] = o.masked_heads[i];
    const bool is_encoder = attention == AttentionHead::encoder;
    const Index layers = is_encoder ? config.encoder_layers : config.decoder_attentions();
    WASMFORMER_CHECK(layer < layers && head < config.num_heads, ErrorCode::translate,
                     name("masked_heads")
                         << "[" << i << "] is layer " << layer << ", head " << head << ", but there are " << layers
                         << " layers of " << config.num_heads << " heads, counted from 0");
  }
  return o;
}

void refuse_beam_with_sampling(const TranslateOptions& o, Naming naming) {
  WASMFORMER_CHECK(!o.sampling || o.beam_size == 1, ErrorCode::translate,
                   named("beam_size", naming)
                       << " is " << o.beam_size << ", but sampling draws one text; leave one of them out");
}

TranslateOptions translate_options(const std::string& json, const Config& config, Naming naming) {
  constexpr Index missing = 0;
  TranslateOptions options;
  options.beam_size = missing;
  from_json(json, fields(options), "translate", naming);
  if (options.beam_size == missing)
    options.beam_size = TranslateOptions{}.beam_size;
  else
    refuse_beam_with_sampling(options, naming);
  return checked(std::move(options), config, naming);
}

}  // namespace wasmformer
