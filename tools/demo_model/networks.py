"""The three SD 1.x networks, with the module names of a real checkpoint.

A state dict holds checkpoint keys without their prefix. The arithmetic is that of SD 1.x. One
number differs: GroupNorm takes min(32, channels / 4) groups. With 32 groups and 32 channels every
channel would be normalised alone, a flat area would lose its level and the time embedding would
cancel out.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

NORM_GROUPS = {"max": 32, "channels_per_group": 4}
LATENT_SCALE = 0.18215
UNET = dict(
    model_channels=32,
    channel_mult=(1, 2, 2),
    num_res_blocks=1,
    transformer_levels=(1, 2),
    context_dim=64,
    num_heads=8,
)
CLIP = dict(hidden_size=64, num_attention_heads=1, num_hidden_layers=2, intermediate_size=256)
VAE = dict(ch=32, ch_mult=(1, 1, 2, 2), num_res_blocks=1, z_channels=4)


def group_norm(channels, eps):
    return nn.GroupNorm(
        min(NORM_GROUPS["max"], channels // NORM_GROUPS["channels_per_group"]), channels, eps=eps
    )


def conv3(a, b, stride=1, padding=1):
    return nn.Conv2d(a, b, 3, stride, padding)


# ---------------------------------------------------------------- autoencoder


class VaeBlock(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.norm1, self.conv1 = group_norm(a, 1e-6), conv3(a, b)
        self.norm2, self.conv2 = group_norm(b, 1e-6), conv3(b, b)
        if a != b:
            self.nin_shortcut = nn.Conv2d(a, b, 1)

    def forward(self, x):
        h = self.conv1(F.silu(self.norm1(x)))
        h = self.conv2(F.silu(self.norm2(h)))
        return h + (self.nin_shortcut(x) if hasattr(self, "nin_shortcut") else x)


class VaeAttention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm = group_norm(c, 1e-6)
        self.q, self.k, self.v, self.proj_out = (nn.Conv2d(c, c, 1) for _ in range(4))

    def forward(self, x):
        h = self.norm(x)
        q, k, v = (f(h).flatten(2).transpose(1, 2) for f in (self.q, self.k, self.v))
        h = F.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None])[:, 0]
        return x + self.proj_out(h.transpose(1, 2).reshape(x.shape))


class VaeMiddle(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.block_1, self.attn_1, self.block_2 = VaeBlock(c, c), VaeAttention(c), VaeBlock(c, c)

    def forward(self, x):
        return self.block_2(self.attn_1(self.block_1(x)))


class Resample(nn.Module):
    """Holds the convolution of an up- or downsampling step under its usual name."""

    def __init__(self, c, down):
        super().__init__()
        self.down, self.conv = down, nn.Conv2d(c, c, 3, 2 if down else 1, 0 if down else 1)

    def forward(self, x):
        if self.down:
            return self.conv(F.pad(x, (0, 1, 0, 1)))  # right and bottom only
        return self.conv(F.interpolate(x, scale_factor=2.0, mode="nearest"))


class Encoder(nn.Module):
    def __init__(self, ch, ch_mult, num_res_blocks, z_channels):
        super().__init__()
        self.conv_in, self.down, c = conv3(3, ch), nn.ModuleList(), ch
        for i, m in enumerate(ch_mult):
            level = nn.Module()
            level.block = nn.ModuleList()
            for _ in range(num_res_blocks):
                level.block.append(VaeBlock(c, ch * m))
                c = ch * m
            if i + 1 < len(ch_mult):
                level.downsample = Resample(c, True)
            self.down.append(level)
        self.mid, self.norm_out, self.conv_out = (
            VaeMiddle(c),
            group_norm(c, 1e-6),
            conv3(c, 2 * z_channels),
        )

    def forward(self, x):
        x = self.conv_in(x)
        for level in self.down:
            for block in level.block:
                x = block(x)
            if hasattr(level, "downsample"):
                x = level.downsample(x)
        return self.conv_out(F.silu(self.norm_out(self.mid(x))))


class Decoder(nn.Module):
    def __init__(self, ch, ch_mult, num_res_blocks, z_channels):
        super().__init__()
        c = ch * ch_mult[-1]
        self.conv_in, self.mid, levels = conv3(z_channels, c), VaeMiddle(c), []
        for i, m in reversed(list(enumerate(ch_mult))):
            level = nn.Module()
            level.block = nn.ModuleList()
            for _ in range(num_res_blocks + 1):
                level.block.append(VaeBlock(c, ch * m))
                c = ch * m
            if i:
                level.upsample = Resample(c, False)
            levels.insert(0, level)
        self.up = nn.ModuleList(levels)
        self.norm_out, self.conv_out = group_norm(c, 1e-6), conv3(c, 3)

    def forward(self, z):
        x = self.mid(self.conv_in(z))
        for level in reversed(self.up):
            for block in level.block:
                x = block(x)
            if hasattr(level, "upsample"):
                x = level.upsample(x)
        return self.conv_out(F.silu(self.norm_out(x)))


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = Encoder(**VAE), Decoder(**VAE)
        z = VAE["z_channels"]
        self.quant_conv, self.post_quant_conv = nn.Conv2d(2 * z, 2 * z, 1), nn.Conv2d(z, z, 1)

    def moments(self, picture):
        return self.quant_conv(self.encoder(picture)).chunk(2, 1)

    def decode(self, z):
        return self.decoder(self.post_quant_conv(z))

    def near_identity(self):
        """Start as a network that passes its input through: trains in minutes, not hours."""
        with torch.no_grad():
            for module in self.modules():
                if isinstance(module, Resample):
                    w = module.conv.weight
                    w.mul_(0.1)
                    i = torch.arange(w.shape[0])
                    if module.down:
                        for y in (0, 1):
                            for x in (0, 1):
                                w[i, i, y, x] += 0.25
                    else:
                        w[i, i, 1, 1] += 1
                    module.conv.bias.zero_()
                if isinstance(module, VaeBlock):
                    module.conv2.weight.mul_(0.2)
                    module.conv2.bias.zero_()
                # Two channels of each group are constants, a measure for GroupNorm.
                for name in ("conv_in", "conv1"):
                    if hasattr(module, name):
                        bias = getattr(module, name).bias
                        bias.zero_()
                        bias[0::4] = 1.5
                        bias[1::4] = -1.5


# ---------------------------------------------------------------- text encoder


class ClipAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(width, width) for _ in range(4)
        )

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = (
            f(x).view(b, n, self.heads, -1).transpose(1, 2)
            for f in (self.q_proj, self.k_proj, self.v_proj)
        )
        return self.out_proj(
            F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, n, c)
        )


class ClipLayer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.layer_norm1, self.self_attn, self.layer_norm2 = (
            nn.LayerNorm(width),
            ClipAttention(width, heads),
            nn.LayerNorm(width),
        )
        self.mlp = nn.Module()
        self.mlp.fc1, self.mlp.fc2 = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x):
        x = x + self.self_attn(self.layer_norm1(x))
        h = self.mlp.fc1(self.layer_norm2(x))
        return x + self.mlp.fc2(h * torch.sigmoid(1.702 * h))


class TextEncoder(nn.Module):
    """Takes rows of the shortened token table (see TokenTable in clip_bpe.py), not CLIP ids."""

    def __init__(self, rows):
        super().__init__()
        width = CLIP["hidden_size"]
        self.embeddings = nn.Module()
        self.embeddings.token_embedding = nn.Embedding(rows, width)
        self.embeddings.position_embedding = nn.Embedding(77, width)
        self.encoder = nn.Module()
        self.encoder.layers = nn.ModuleList(
            ClipLayer(width, CLIP["num_attention_heads"], CLIP["intermediate_size"])
            for _ in range(CLIP["num_hidden_layers"])
        )
        self.final_layer_norm = nn.LayerNorm(width)
        nn.init.normal_(self.embeddings.token_embedding.weight, std=0.3)
        nn.init.normal_(self.embeddings.position_embedding.weight, std=0.1)

    def forward(self, rows):
        x = self.embeddings.token_embedding(rows) + self.embeddings.position_embedding.weight
        for layer in self.encoder.layers:
            x = layer(x)
        return self.final_layer_norm(x)


# ---------------------------------------------------------------- UNet


class ResBlock(nn.Module):
    def __init__(self, a, b, emb):
        super().__init__()
        self.in_layers = nn.Sequential(group_norm(a, 1e-5), nn.SiLU(), conv3(a, b))
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(emb, b))
        self.out_layers = nn.Sequential(group_norm(b, 1e-5), nn.SiLU(), nn.Identity(), conv3(b, b))
        self.skip_connection = nn.Conv2d(a, b, 1) if a != b else nn.Identity()

    def forward(self, x, emb, context):
        h = self.in_layers(x) + self.emb_layers(emb)[:, :, None, None]
        return self.skip_connection(x) + self.out_layers(h)


class Attention(nn.Module):
    def __init__(self, width, context, heads):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(width, width, bias=False)
        self.to_k, self.to_v = (nn.Linear(context, width, bias=False) for _ in range(2))
        self.to_out = nn.Sequential(nn.Linear(width, width))

    def forward(self, x, context):
        b, n, c = x.shape
        q, k, v = (
            f(y).view(b, y.shape[1], self.heads, -1).transpose(1, 2)
            for f, y in ((self.to_q, x), (self.to_k, context), (self.to_v, context))
        )
        return self.to_out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, c))


class GeGlu(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, 8 * width)

    def forward(self, x):
        value, gate = self.proj(x).chunk(2, -1)
        return value * F.gelu(gate)


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(GeGlu(width), nn.Identity(), nn.Linear(4 * width, width))

    def forward(self, x):
        return self.net(x)


class TransformerBlock(nn.Module):
    def __init__(self, width, context, heads):
        super().__init__()
        self.attn1, self.attn2, self.ff = (
            Attention(width, width, heads),
            Attention(width, context, heads),
            FeedForward(width),
        )
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))

    def forward(self, x, context):
        h = self.norm1(x)
        x = x + self.attn1(h, h)
        x = x + self.attn2(self.norm2(x), context)
        return x + self.ff(self.norm3(x))


class SpatialTransformer(nn.Module):
    def __init__(self, width, context, heads):
        super().__init__()
        self.norm, self.proj_in, self.proj_out = (
            group_norm(width, 1e-6),
            nn.Conv2d(width, width, 1),
            nn.Conv2d(width, width, 1),
        )
        self.transformer_blocks = nn.ModuleList([TransformerBlock(width, context, heads)])

    def forward(self, x, emb, context):
        h = self.proj_in(self.norm(x)).flatten(2).transpose(1, 2)
        for block in self.transformer_blocks:
            h = block(h, context)
        return x + self.proj_out(h.transpose(1, 2).reshape(x.shape))


class Downsample(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.op = conv3(c, c, 2)

    def forward(self, x, emb, context):
        return self.op(x)


class Upsample(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = conv3(c, c)

    def forward(self, x, emb, context):
        return self.conv(F.interpolate(x, scale_factor=2.0, mode="nearest"))


class FirstConv(nn.Conv2d):
    def forward(self, x, emb, context):
        return super().forward(x)


def run(block, x, emb, context):
    for layer in block:
        x = layer(x, emb, context)
    return x


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        base, context, heads = UNET["model_channels"], UNET["context_dim"], UNET["num_heads"]
        emb = 4 * base
        self.base = base
        self.time_embed = nn.Sequential(nn.Linear(base, emb), nn.SiLU(), nn.Linear(emb, emb))
        c, skips = base, [base]
        self.input_blocks = nn.ModuleList([nn.ModuleList([FirstConv(4, base, 3, padding=1)])])
        transformer = lambda: SpatialTransformer(c, context, heads)
        last = len(UNET["channel_mult"]) - 1
        for i, m in enumerate(UNET["channel_mult"]):
            for _ in range(UNET["num_res_blocks"]):
                block = nn.ModuleList([ResBlock(c, base * m, emb)])
                c = base * m
                if i in UNET["transformer_levels"]:
                    block.append(transformer())
                self.input_blocks.append(block)
                skips.append(c)
            if i < last:
                self.input_blocks.append(nn.ModuleList([Downsample(c)]))
                skips.append(c)
        self.middle_block = nn.ModuleList([ResBlock(c, c, emb), transformer(), ResBlock(c, c, emb)])
        self.output_blocks = nn.ModuleList()
        for i, m in reversed(list(enumerate(UNET["channel_mult"]))):
            for j in range(UNET["num_res_blocks"] + 1):
                block = nn.ModuleList([ResBlock(c + skips.pop(), base * m, emb)])
                c = base * m
                if i in UNET["transformer_levels"]:
                    block.append(transformer())
                if i and j == UNET["num_res_blocks"]:
                    block.append(Upsample(c))
                self.output_blocks.append(block)
        self.out = nn.Sequential(group_norm(c, 1e-5), nn.SiLU(), conv3(c, 4))

    def forward(self, x, t, context):
        half = self.base // 2
        angles = t.float()[:, None] * torch.exp(-math.log(10000) * torch.arange(half) / half)
        emb = self.time_embed(torch.cat([angles.cos(), angles.sin()], 1))
        skips = []
        for block in self.input_blocks:
            x = run(block, x, emb, context)
            skips.append(x)
        x = run(self.middle_block, x, emb, context)
        for block in self.output_blocks:
            x = run(block, torch.cat([x, skips.pop()], 1), emb, context)
        return self.out(x)

    def copy_start(self):
        """Start as a copy of the input.

        At the noisy end the right answer is the input up to 1/sigma, and GroupNorm rescales every
        picture by a few per cent, which there hides all of the picture. So each latent channel
        travels as the group (x, -x, 3, -3): the constants keep the last GroupNorm from rescaling,
        and silu(a) - silu(-a) = a.
        """
        with torch.no_grad():
            for block in self.modules():
                if isinstance(block, ResBlock):
                    block.out_layers[3].weight.zero_()
                    block.out_layers[3].bias.zero_()
                if isinstance(block, SpatialTransformer):
                    block.proj_out.weight.mul_(0.3)
                    block.proj_out.bias.zero_()
            first, skip, norm, end = (
                self.input_blocks[0][0],
                self.output_blocks[-1][0].skip_connection,
                self.out[0],
                self.out[2],
            )
            carried, base = 16, self.base
            first.weight[:carried] = 0
            skip.weight[:carried] = 0
            skip.bias[:carried] = 0
            end.weight.zero_()
            end.bias.zero_()
            for g in range(4):
                for j, (gain, level) in enumerate(((1, 0), (-1, 0), (0, 3), (0, -3))):
                    first.weight[4 * g + j, g, 1, 1] = gain
                    first.bias[4 * g + j] = level
                    skip.weight[4 * g + j, base + 4 * g + j, 0, 0] = 1
                end.weight[g, 4 * g, 1, 1] = 1
                end.weight[g, 4 * g + 1, 1, 1] = -1
            norm.weight[:carried] = (
                5**0.5
            )  # standard deviation of (x, -x, 3, -3) with x of unit size
