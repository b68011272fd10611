// OpenCL C: images and samplers as kernel parameters.
kernel void pass(read_only image2d_t in, write_only image2d_t out, sampler_t how, global int *more, int i) { more[0] = more[i]; more[i + 2] = 5; }
constant int table[4] = {1, -2, 3, -4};
kernel void plain(global int *out, constant int *given, int i) { out[0] = table[i] + given[3] + given[i]; }
