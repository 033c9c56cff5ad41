// SPDX-License-Identifier: BSD-3-Clause
// The command line.
#ifndef HOCKET_EXAMPLES_KMEANS_OPTIONS_H
#define HOCKET_EXAMPLES_KMEANS_OPTIONS_H

#include "kmeans.h"

// Gives the exit status, the reason said, or -1 to go on.
int read_parameters(int argc, char** argv, parameters_t* parameters);

#endif
