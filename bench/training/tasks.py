"""Training tasks on data that packages ship: characters of Python's own manual, handwritten digits of scikit-learn."""

import torch
from torch import nn

CONTEXT = 64  # characters


class Transformer(nn.Module):
    """A small transformer that predicts the next character."""

    def __init__(self, characters, width, layers):
        super().__init__()
        self.embed = nn.Embedding(characters, width)
        self.place = nn.Parameter(torch.zeros(CONTEXT, width))
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.read = nn.Linear(width, characters)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(CONTEXT), persistent=False)

    def forward(self, text):
        return self.read(self.layers(self.embed(text) + self.place, mask=self.mask, is_causal=True)).transpose(1, 2)


class Text:
    """Next character of the help texts that Python ships (pydoc_data.topics)."""

    def __init__(self, small, width=0):
        from pydoc_data.topics import topics

        text = "\n".join(topics[name] for name in sorted(topics))
        characters = sorted(set(text))
        number = {character: i for i, character in enumerate(characters)}
        codes = torch.tensor([number[character] for character in text])
        held_out = len(codes) // 20
        self._train, self._test = codes[:-held_out], codes[-held_out:]
        self.batch, self.rate, self.characters = 4 if width else 1, 1e-3, len(characters)
        self._shape = (len(characters), width or 64, 2) if small or width else (len(characters), 256, 4)

    def model(self):
        return Transformer(*self._shape)

    def samples(self, random):
        """Returns a batch of texts and their next characters."""
        return self._excerpts(self._train, torch.randint(len(self._train) - CONTEXT - 1, (self.batch,), generator=random))

    def test(self):
        return self._excerpts(self._test, torch.arange(0, len(self._test) - CONTEXT - 1, 4 * CONTEXT)[:64])

    @staticmethod
    def _excerpts(codes, starts):
        rows = torch.stack([codes[start : start + CONTEXT + 1] for start in starts.tolist()])
        return rows[:, :-1], rows[:, 1:]


class Digits:
    """Class of an 8 x 8 image (sklearn.datasets.load_digits), by a small convolutional network."""

    def __init__(self, small, width=0):
        from sklearn.datasets import load_digits

        images, classes = load_digits(return_X_y=True)
        order = torch.randperm(len(classes), generator=torch.Generator().manual_seed(0))
        self._images = torch.tensor(images, dtype=torch.float32).view(-1, 1, 8, 8)[order] / 8 - 1
        self._classes = torch.tensor(classes)[order]
        self.batch, self.rate = 16, 1e-3
        self._width = width or (128 if small else 1024)

    def model(self):
        return nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.Flatten(),
            nn.Linear(32 * 64, self._width), nn.ReLU(), nn.Linear(self._width, 10),
        )  # fmt: skip

    def samples(self, random):
        """Returns a batch of images and their classes."""
        chosen = torch.randint(1400, (self.batch,), generator=random)
        return self._images[chosen], self._classes[chosen]

    def test(self):
        return self._images[1400:], self._classes[1400:]


TASKS = {"transformer": Text, "cnn": Digits}
