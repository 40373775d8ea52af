# SPDX-License-Identifier: Apache-2.0
"""JAX: a jitted gradient step, repeated."""
import hashlib
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
import jax.numpy as jnp
import numpy as np

w = jax.random.normal(jax.random.PRNGKey(0), (256, 256))
x = jax.random.normal(jax.random.PRNGKey(1), (64, 256))
step = jax.jit(lambda w: w - 0.01 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w))
for _ in range(20):
    w = step(w)
print(hashlib.sha256(np.asarray(w).tobytes()).hexdigest()[:16])
