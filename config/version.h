/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AF_CONFIG_VERSION_H
#define AF_CONFIG_VERSION_H

#define AUTOFUSE_VERSION "0.1.0"

#endif
