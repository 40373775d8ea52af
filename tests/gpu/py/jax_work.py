# SPDX-License-Identifier: Apache-2.0
"""JAX: a jitted gradient step, repeated. Nothing in it is chosen by timing: a product that another algorithm computes
has other bytes, and which one is the fastest is a matter of what else the machine does."""
import hashlib
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_autotune_level=0 --xla_gpu_deterministic_ops=true"
import jax
import jax.numpy as jnp
import numpy as np

w = jax.random.normal(jax.random.PRNGKey(0), (256, 256))
x = jax.random.normal(jax.random.PRNGKey(1), (64, 256))
step = jax.jit(lambda w: w - 0.01 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w))
for _ in range(20):
    w = step(w)
print(hashlib.sha256(np.asarray(w).tobytes()).hexdigest()[:16])
