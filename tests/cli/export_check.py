"""Greedy decoding by PyTorch: of a model file (`layers`, by bindings/examples/pytorch) or of a MarianMT folder (`marian`).

Standard input has [{"source": ids, "target": ids, "logProbabilities": numbers}]; standard output gets the ids that
PyTorch chooses and the largest difference of their log-probabilities.
"""
import json
import math
import os
import sys

import torch
from torch.nn import functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../bindings/examples/pytorch'))
sys.dont_write_bytecode = True
import load  # noqa: E402


class Marian:
    """The forward pass of transformers' MarianMTModel, by its tensors and config.json alone."""

    def __init__(self, folder):
        self.c = c = json.load(open(os.path.join(folder, 'config.json')))
        self.t = t = load.read(os.path.join(folder, 'model.safetensors'))[1]
        assert c['model_type'] == 'marian' and json.load(open(os.path.join(folder, 'generation_config.json')))
        shared = c['share_encoder_decoder_embeddings']
        self.source = t['model.shared.weight' if shared else 'model.encoder.embed_tokens.weight']
        self.target = t['model.shared.weight' if shared else 'model.decoder.embed_tokens.weight']
        self.output = self.target if c['tie_word_embeddings'] else t['lm_head.weight']
        # Both tables begin as copies of one of vocab_size rows.
        assert self.source.shape[0] == self.target.shape[0] == c['vocab_size'] == c['decoder_vocab_size']
        assert list(t['final_logits_bias'].shape) == [1, c['decoder_vocab_size']]
        self.used = {'final_logits_bias'}

    def linear(self, x, name):
        self.used |= {name + '.weight', name + '.bias'}
        return F.linear(x, self.t[name + '.weight'], self.t[name + '.bias'])

    def norm(self, x, name):
        self.used |= {name + '.weight', name + '.bias'}
        return F.layer_norm(x, x.shape[-1:], self.t[name + '.weight'], self.t[name + '.bias'])

    def attention(self, x, y, name, mask=None):
        heads = self.c['encoder_attention_heads']
        q, k, v = (self.linear(z, f'{name}.{part}_proj').unflatten(-1, (heads, -1)).transpose(0, 1)
                   for z, part in ((x, 'q'), (y, 'k'), (y, 'v')))
        scores = q @ k.transpose(1, 2) * q.shape[-1] ** -0.5
        if mask is not None:
            scores = scores + mask
        return self.linear((scores.softmax(-1) @ v).transpose(0, 1).flatten(1), f'{name}.out_proj')

    def embed(self, ids, table, side):
        n, d = self.c['max_position_embeddings'], self.c['d_model']
        places = self.t.get(f'model.{side}.embed_positions.weight')
        if places is None:
            angles = torch.arange(n)[:, None].double() / 10000 ** (torch.arange(0, d, 2) / d)
            places = torch.cat([angles.sin(), angles.cos()], 1).float()
        return table[ids] * (math.sqrt(d) if self.c['scale_embedding'] else 1) + places[:len(ids)]

    def feed_forward(self, x, name):
        f = {'relu': F.relu, 'gelu': F.gelu, 'swish': F.silu}[self.c['activation_function']]
        return self.norm(x + self.linear(f(self.linear(x, name + '.fc1')), name + '.fc2'), name + '.final_layer_norm')

    def __call__(self, source, target):
        x, y = self.embed(source[0], self.source, 'encoder'), self.embed(target[0], self.target, 'decoder')
        for i in range(self.c['encoder_layers']):
            name = f'model.encoder.layers.{i}'
            x = self.norm(x + self.attention(x, x, name + '.self_attn'), name + '.self_attn_layer_norm')
            x = self.feed_forward(x, name)
        mask = torch.full((len(y), len(y)), -math.inf).triu(1)
        for i in range(self.c['decoder_layers']):
            name = f'model.decoder.layers.{i}'
            y = self.norm(y + self.attention(y, y, name + '.self_attn', mask), name + '.self_attn_layer_norm')
            y = self.norm(y + self.attention(y, x, name + '.encoder_attn'), name + '.encoder_attn_layer_norm')
            y = self.feed_forward(y, name)
        left = set(self.t) - self.used
        assert all('embed' in name or 'shared' in name or 'lm_head' in name for name in left), left
        return (y @ self.output.T + self.t['final_logits_bias'])[None]


kind, opened = sys.argv[1:]
if kind == 'marian':
    model = Marian(opened)
    begin, end = model.c['decoder_start_token_id'], model.c['eos_token_id']
    bad = [ids[0] for ids in model.c['bad_words_ids']]
else:
    model = load.Model(opened)
    begin, end = model.config['bos_id'], model.config['eos_id']
    bad = [model.config['pad_id'], begin]

texts, worst = [], 0.0
with torch.no_grad():
    for case in json.load(sys.stdin):
        ids = [begin]
        for wanted in case['logProbabilities']:
            scores = model(torch.tensor([case['source']]), torch.tensor([ids]))[0, -1]
            scores[bad] = -math.inf
            best = scores.log_softmax(0).max(0)
            ids.append(int(best.indices))
            worst = max(worst, abs(float(best.values) - wanted))
        texts.append(ids[1:])
print(json.dumps({'texts': texts, 'worst': worst}))
