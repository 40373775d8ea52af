# SPDX-License-Identifier: Apache-2.0
test_fold_SRC := tools/fold.c tools/fold_walk.c
