"""A model of Wasmformer as nn.TransformerEncoder and nn.TransformerDecoder, read with nothing but PyTorch.

    python3 load.py model.safetensors 5 9 4 3     # ids of a source, end token last: greedy, prints the target's ids

    Wasmformer, in a layer            PyTorch, in a layer
    self_attn.{q,k,v}_proj            self_attn.in_proj_weight, in_proj_bias (q, k and v below each other)
    self_attn.out_proj                self_attn.out_proj
    encoder_attn                      multihead_attn, in the same way
    fc1, fc2                          linear1, linear2
    self_attn_layer_norm              norm1
    encoder_attn_layer_norm           norm2
    final_layer_norm                  norm2 of the encoder, norm3 of the decoder
"""
import json
import math
import struct
import sys

import torch
from torch import nn

TYPES = {'F32': torch.float32, 'F16': torch.float16, 'I8': torch.int8}
ACTIVATIONS = {'relu': 'relu', 'gelu': 'gelu', 'swish': nn.functional.silu}


def read(path):
    """Config and tensors by name. https://huggingface.co/docs/safetensors; an I8 tensor has a scale for each row."""
    data = open(path, 'rb').read()
    begin = 8 + struct.unpack('<Q', data[:8])[0]
    header = json.loads(data[8:begin])
    metadata = header.pop('__metadata__', {})
    tensors = {}
    for name, entry in header.items():
        first, last = entry['data_offsets']
        values = torch.frombuffer(bytearray(data[begin + first:begin + last]), dtype=TYPES[entry['dtype']])
        tensors[name] = values.float().reshape(entry['shape'])
    for name in [name for name in tensors if name.endswith('.scale')]:
        tensors[name[:-len('.scale')]] *= tensors.pop(name)[:, None]
    return json.loads(metadata.get('config', '{}')), tensors


def state_dict(tensors, side):
    """The weights of one side, 'encoder' or 'decoder', by the names of nn.TransformerEncoder or nn.TransformerDecoder."""
    parts = {'self_attn': 'self_attn', 'encoder_attn': 'multihead_attn', 'fc1': 'linear1', 'fc2': 'linear2',
             'self_attn_layer_norm': 'norm1', 'encoder_attn_layer_norm': 'norm2',
             'final_layer_norm': 'norm2' if side == 'encoder' else 'norm3', 'layer_norm': 'norm'}
    state = {}
    for name, value in tensors.items():
        if not name.startswith((f'model.{side}.layers.', f'model.{side}.layer_norm.')):
            continue
        if 'k_proj' in name or 'v_proj' in name:
            continue  # go with q_proj
        if 'q_proj' in name:
            value = torch.cat([tensors[name.replace('q_proj', part)] for part in ('q_proj', 'k_proj', 'v_proj')])
            name = name.replace('q_proj.', 'in_proj_')
        state['.'.join(parts.get(part, part) for part in name.split('.')[2:])] = value
    return state


def positions(config, tensors, side):
    """[max_length, d_model]"""
    if config['positions'] == 'learned':
        return tensors[f'model.{side}.embed_positions.weight']
    half = config['d_model'] // 2
    steps = max(half - 1, 1) if config['positions'] == 'sinusoidal_marian' else half
    angles = torch.arange(config['max_length'], dtype=torch.float64)[:, None] / 10000 ** (torch.arange(half) / steps)
    if config['positions'] == 'sinusoidal':  # sine and cosine beside each other
        return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1).float()
    return torch.cat([angles.sin(), angles.cos()], dim=1).float()


class Model(nn.Module):
    def __init__(self, path):
        super().__init__()
        self.config, t = read(path)
        config = self.config
        if config['attention'] != 'scaled_dot':
            raise ValueError(f"attention is {config['attention']}; PyTorch's layers have scaled_dot only")
        if config['positions'] == 'rotary':
            raise ValueError("PyTorch's layers have no rotary positions")
        layer = dict(d_model=config['d_model'], nhead=config['num_heads'], dim_feedforward=config['ffn_dim'], dropout=0,
                     activation=ACTIVATIONS[config['activation']], layer_norm_eps=config['norm_epsilon'],
                     batch_first=True, norm_first=config['norm'] == 'pre')
        norm = [nn.LayerNorm(config['d_model'], config['norm_epsilon']) if config['norm'] == 'pre' else None
                for _ in range(2)]
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**layer), config['encoder_layers'], norm[0])
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**layer), config['decoder_layers'], norm[1])
        self.encoder.load_state_dict(state_dict(t, 'encoder'))
        self.decoder.load_state_dict(state_dict(t, 'decoder'))
        shared = t.get('model.shared.weight')  # tie_embeddings: all
        self.source = t['model.encoder.embed_tokens.weight'] if shared is None else shared
        self.target = t['model.decoder.embed_tokens.weight'] if shared is None else shared
        self.output = t.get('lm_head.weight', self.target)
        self.bias = t.get('final_logits_bias', torch.zeros(1))
        self.places = {side: positions(config, t, side) for side in ('encoder', 'decoder')}
        self.scale = math.sqrt(config['d_model']) if config.get('scale_embedding', True) else 1
        self.eval()

    def forward(self, source, target):
        """Ids [batch, s] with the end token, and [batch, t] with the begin token; returns logits [batch, t, vocabulary]."""
        x = self.source[source] * self.scale + self.places['encoder'][:source.shape[1]]
        y = self.target[target] * self.scale + self.places['decoder'][:target.shape[1]]
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        return self.decoder(y, self.encoder(x), tgt_mask=causal) @ self.output.T + self.bias


if __name__ == '__main__':
    model = Model(sys.argv[1])
    source = torch.tensor([[int(token) for token in sys.argv[2:]]])
    ids = [model.config['bos_id']]
    with torch.no_grad():
        while ids[-1] != model.config['eos_id'] and len(ids) < model.config['max_length']:
            logits = model(source, torch.tensor([ids]))[0, -1]
            logits[[model.config['pad_id'], model.config['bos_id']]] = -math.inf
            ids.append(int(logits.argmax()))
    print(*ids[1:])
