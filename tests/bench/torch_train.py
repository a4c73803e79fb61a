"""PyTorch's training step at the sizes of a model file of data.mjs: forward, backward, Adam, one thread.

torch_train.py MODEL PAIRS MS prints one JSON object, as wasmformer_bench train does."""
import json
import os
import sys
import time

os.environ.pop("OPENBLAS_CORETYPE", None)  # a pin to older processors would flatter the others
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # its threads wait busily, and torch's setting does not reach them
import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

torch.set_num_threads(1)
path, pairs, budget = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
with open(path, "rb") as file:
    header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    data = file.read()
config = json.loads(header.pop("__metadata__")["config"])
d, heads, layers = config["d_model"], config["num_heads"], config["encoder_layers"]
vocabulary, tokens = config["source_vocab_size"], 16
w = {}
for name, entry in header.items():
    begin, end = entry["data_offsets"]
    values = np.frombuffer(data[begin:end], dtype="<f4").reshape(entry["shape"]).copy()
    w[name] = torch.tensor(values, requires_grad=True)

ids = torch.tensor([4 + i * 7919 % (vocabulary - 4) for i in range(pairs * tokens)]).view(pairs, tokens)
inputs = torch.cat([torch.full((pairs, 1), config["bos_id"]), ids[:, :-1]], 1)
angle = np.arange(tokens)[:, None] / 10000 ** (np.arange(d) // 2 * 2 / d)
positions = torch.tensor(np.where(np.arange(d) % 2 == 0, np.sin(angle), np.cos(angle)), dtype=torch.float32)
causal = torch.triu(torch.full((tokens, tokens), float("-inf")), 1)


def linear(x, name):
    return F.linear(x, w[name + ".weight"], w[name + ".bias"])


def norm(x, name):
    return F.layer_norm(x, (d,), w[name + ".weight"], w[name + ".bias"])


def attend(x, memory, name, mask=None):
    q, k, v = (linear(part, f"{name}.{letter}_proj").view(pairs, tokens, heads, -1).transpose(1, 2)
               for part, letter in ((x, "q"), (memory, "k"), (memory, "v")))
    scores = q @ k.transpose(2, 3) / (d / heads) ** 0.5
    mixed = (scores if mask is None else scores + mask).softmax(-1) @ v
    return norm(x + linear(mixed.transpose(1, 2).reshape(pairs, tokens, d), name + ".out_proj"), name + "_layer_norm")


def feed_forward(x, name):
    return norm(x + linear(F.relu(linear(x, name + ".fc1")), name + ".fc2"), name + ".final_layer_norm")


def embed(rows):
    return F.embedding(rows, w["model.shared.weight"]) * d**0.5 + positions


def loss():
    x, y = embed(ids), embed(inputs)
    for layer in (f"model.encoder.layers.{i}" for i in range(layers)):
        x = feed_forward(attend(x, x, layer + ".self_attn"), layer)
    for layer in (f"model.decoder.layers.{i}" for i in range(layers)):
        y = attend(y, y, layer + ".self_attn", causal)
        y = feed_forward(attend(y, x, layer + ".encoder_attn"), layer)
    logits = F.linear(y, w["model.shared.weight"], w["final_logits_bias"][0])
    return F.cross_entropy(logits.view(-1, vocabulary), ids.reshape(-1))


adam = torch.optim.Adam(w.values(), lr=1e-3, betas=(0.9, 0.999), eps=1e-8)


def step():
    adam.zero_grad(set_to_none=True)
    value = loss()
    value.backward()
    adam.step()
    return value.item()


losses = [step() for _ in range(2)]
samples, end = [], time.perf_counter() + budget / 1000
while len(samples) < 3 or time.perf_counter() < end:
    start = time.perf_counter()
    step()
    samples.append((time.perf_counter() - start) * 1000)
samples.sort()
print(json.dumps({"ms a step": samples[len(samples) // 4], "losses": losses}))
