// Options of Transformers.js without effect here; a warning names each that is given.
export const ignoredOptions = [
  'revision', 'cache_dir', 'local_files_only', 'config', 'model_file_name', 'subfolder', 'session_options',
  'use_external_data_format',
] as const;
export const ignoredGeneration = [
  'length_penalty', 'repetition_penalty', 'no_repeat_ngram_size', 'early_stopping', 'min_length', 'min_new_tokens',
  'use_cache', 'num_beam_groups', 'diversity_penalty', 'typical_p', 'epsilon_cutoff', 'bad_words_ids',
  'suppress_tokens', 'forced_bos_token_id', 'forced_eos_token_id', 'bos_token_id', 'eos_token_id', 'pad_token_id',
  'decoder_start_token_id', 'generation_config', 'return_dict_in_generate', 'output_scores', 'logits_processor',
  'stopping_criteria',
] as const;
