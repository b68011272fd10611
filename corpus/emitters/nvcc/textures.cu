// Texture and surface objects through the API, read-only loads, cache hints.
struct Sampler { cudaTextureObject_t texture; float scale; };
__constant__ Sampler bound = {0, 2.0f};
__device__ cudaTextureObject_t several[3];
extern "C" __global__ void sample(float4 *out, cudaTextureObject_t t, float x, float y) { out[0] = tex2D<float4>(t, x, y); out[1].x = tex1Dfetch<float>(t, 5); out[2] = tex3D<float4>(bound.texture, x, y, bound.scale); out[3].y = tex2DLod<float>(several[1], x, y, 2); out[4] = tex2Dgather<float4>(t, x, y, 1); out[5].x = texCubemap<float>(t, x, y, 1); out[6].x = tex2DLayered<float>(t, x, y, 3); }
extern "C" __global__ void draw(cudaSurfaceObject_t s, int x, uchar4 v) { surf2Dwrite(v, s, x * 4, 3); uchar4 w; surf2Dread(&w, s, x * 4, 4); surf1Dwrite(w.x, s, x); }
extern "C" __global__ void hints(float *out, const float *in, int i) { out[0] = __ldg(in + 3); out[1] = __ldcs(in + i); __stwt(out + 5, 1.0f); out[i] = __ldcv(in); __stcg(out + i, 2.0f); }
