// OpenCL C: program-scope constants, structures of vectors, local memory, pointers with address spaces.
constant float weights[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
constant uchar4 palette[3] = {(uchar4)(1, 2, 3, 4), (uchar4)(255, 0, 128, 7)};
constant int3 triples[2] = {(int3)(1, 2, 3), (int3)(4, 5, 6)};
typedef struct { char tag; float8 wide; short tail; } Record;
constant Record records[2] = {{1, (float8)(1, 2, 3, 4, 5, 6, 7, 8), -2}, {3, (float8)(0.5f), 4}};
float blur(constant float *w, global const float *in, int i) { float s = 0; for (int k = 0; k < 5; k++) s += w[k] * in[i + k]; return s; }
kernel void filter(global float *out, global const float *in, int n) { out[n] = blur(weights, in, n); }
kernel void fixed(global float *out, global uchar4 *colours, global int3 *more) { out[0] = weights[2] + records[1].wide.s3 + records[0].tail; colours[1] = palette[1]; more[0] = triples[1]; }
kernel void indexed(global float *out, global float4 *in, int i) { out[i] = in[i].y + in[3].w + records[i].wide.s1; in[i + 1] = in[i] * 2.0f; }
kernel void scratch(global int *out, local int *given) { local int tile[64]; tile[out[0]] = given[3]; given[1] = 7; out[1] = tile[5] + given[out[2]]; }
kernel void private_array(global int *out, int i) { int a[10] = {1, 2, 3}; a[i] = 5; out[0] = a[i + 1] + a[2]; }
