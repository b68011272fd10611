// Functions of the device that take any values: only the type of the result matters.
#define PTXSMITH_DEVICE(result, name) template <class... T> __device__ result name(T... values);
#define PTXSMITH_SAME(name) template <class T, class... U> __device__ T name(T value, U... values);
#define PTXSMITH_ATOMIC(name) \
  template <class T, class... U> __device__ T name(T *at, U... values); \
  template <class T, class... U> __device__ T name(volatile T *at, U... values); \
  template <class T, class... U> __device__ T name##_system(T *at, U... values); \
  template <class T, class... U> __device__ T name##_block(T *at, U... values);
PTXSMITH_ATOMIC(atomicAdd) PTXSMITH_ATOMIC(atomicSub) PTXSMITH_ATOMIC(atomicMax) PTXSMITH_ATOMIC(atomicMin) PTXSMITH_ATOMIC(atomicExch)
PTXSMITH_ATOMIC(atomicCAS) PTXSMITH_ATOMIC(atomicOr) PTXSMITH_ATOMIC(atomicAnd) PTXSMITH_ATOMIC(atomicXor) PTXSMITH_ATOMIC(atomicInc) PTXSMITH_ATOMIC(atomicDec)
PTXSMITH_DEVICE(unsigned, __reduce_min_sync) PTXSMITH_DEVICE(unsigned, __reduce_max_sync) PTXSMITH_DEVICE(unsigned, __reduce_and_sync)
PTXSMITH_DEVICE(unsigned, __reduce_or_sync) PTXSMITH_DEVICE(unsigned, __reduce_xor_sync) PTXSMITH_DEVICE(unsigned, __reduce_add_sync)
PTXSMITH_DEVICE(unsigned, __match_all_sync) PTXSMITH_DEVICE(int, __all) PTXSMITH_DEVICE(int, __any) PTXSMITH_DEVICE(unsigned, __ballot)
PTXSMITH_SAME(__shfl) PTXSMITH_SAME(__shfl_up) PTXSMITH_SAME(__shfl_down) PTXSMITH_SAME(__shfl_xor)
PTXSMITH_DEVICE(void, __prof_trigger) PTXSMITH_DEVICE(void, __brkpt) PTXSMITH_DEVICE(unsigned, __isShared) PTXSMITH_DEVICE(unsigned, __isGlobal)
#define PTXSMITH_LOAD(name) template <class T> __device__ T name(const T *at);
PTXSMITH_LOAD(__ldcg) PTXSMITH_LOAD(__ldca) PTXSMITH_LOAD(__ldcs) PTXSMITH_LOAD(__ldlu) PTXSMITH_LOAD(__ldcv)
#define PTXSMITH_STORE(name) template <class T, class U> __device__ void name(T *at, U value);
PTXSMITH_STORE(__stwb) PTXSMITH_STORE(__stcg) PTXSMITH_STORE(__stcs) PTXSMITH_STORE(__stwt)
#define PTXSMITH_VIDEO(name) PTXSMITH_DEVICE(unsigned, name)
PTXSMITH_VIDEO(__vadd2) PTXSMITH_VIDEO(__vadd4) PTXSMITH_VIDEO(__vsub2) PTXSMITH_VIDEO(__vsub4) PTXSMITH_VIDEO(__vsubss4) PTXSMITH_VIDEO(__vmaxs2)
PTXSMITH_VIDEO(__vmins2) PTXSMITH_VIDEO(__vmaxu4) PTXSMITH_VIDEO(__vminu4) PTXSMITH_VIDEO(__vcmpeq4) PTXSMITH_VIDEO(__vcmpne4) PTXSMITH_VIDEO(__vcmpgtu4)
PTXSMITH_VIDEO(__vabsdiffu4) PTXSMITH_VIDEO(__vsadu4) PTXSMITH_VIDEO(__vavgu4) PTXSMITH_VIDEO(__vseteq4) PTXSMITH_VIDEO(__vabs4) PTXSMITH_VIDEO(__vmaxs4)
PTXSMITH_VIDEO(__viaddmax_s32) PTXSMITH_VIDEO(__vimax3_s32) PTXSMITH_VIDEO(__uhadd) PTXSMITH_VIDEO(__urhadd) PTXSMITH_VIDEO(__dp2a_lo) PTXSMITH_VIDEO(__dp2a_hi)
PTXSMITH_DEVICE(unsigned, __float2uint_rz) PTXSMITH_DEVICE(unsigned, __float2uint_rd) PTXSMITH_DEVICE(unsigned, __float2uint_ru)
PTXSMITH_DEVICE(long long, __float2ll_rn) PTXSMITH_DEVICE(unsigned long long, __float2ull_rn) PTXSMITH_DEVICE(long long, __float2ll_rz) PTXSMITH_DEVICE(unsigned long long, __float2ull_rz)
PTXSMITH_DEVICE(int, __double2int_rz) PTXSMITH_DEVICE(int, __double2int_rd) PTXSMITH_DEVICE(int, __double2int_ru) PTXSMITH_DEVICE(unsigned, __double2uint_rn)
PTXSMITH_DEVICE(long long, __double2ll_rn) PTXSMITH_DEVICE(long long, __double2ll_rz) PTXSMITH_DEVICE(unsigned long long, __double2ull_rn) PTXSMITH_DEVICE(unsigned long long, __double2ull_rz)
PTXSMITH_DEVICE(float, __double2float_rz) PTXSMITH_DEVICE(float, __double2float_rd) PTXSMITH_DEVICE(float, __double2float_ru) PTXSMITH_DEVICE(double, __int2double_rn)
PTXSMITH_DEVICE(double, __uint2double_rn) PTXSMITH_DEVICE(double, __ll2double_rn) PTXSMITH_DEVICE(double, __ull2double_rn) PTXSMITH_DEVICE(float, __ll2float_rn)
PTXSMITH_DEVICE(float, __ull2float_rn) PTXSMITH_DEVICE(float, __int2float_rz) PTXSMITH_DEVICE(float, __uint2float_rz)
#define PTXSMITH_ROUNDED(type, name) \
  PTXSMITH_DEVICE(type, name##_rn) PTXSMITH_DEVICE(type, name##_rz) PTXSMITH_DEVICE(type, name##_ru) PTXSMITH_DEVICE(type, name##_rd)
PTXSMITH_ROUNDED(float, __fadd) PTXSMITH_ROUNDED(float, __fsub) PTXSMITH_ROUNDED(float, __fmul) PTXSMITH_ROUNDED(float, __fmaf) PTXSMITH_ROUNDED(float, __fdiv)
PTXSMITH_ROUNDED(float, __fsqrt) PTXSMITH_ROUNDED(float, __frcp) PTXSMITH_ROUNDED(double, __dadd) PTXSMITH_ROUNDED(double, __dsub) PTXSMITH_ROUNDED(double, __dmul)
PTXSMITH_ROUNDED(double, __fma) PTXSMITH_ROUNDED(double, __ddiv) PTXSMITH_ROUNDED(double, __dsqrt) PTXSMITH_ROUNDED(double, __drcp)
PTXSMITH_DEVICE(double, nan) PTXSMITH_DEVICE(float, nanf)
PTXSMITH_DEVICE(int, __rhadd) PTXSMITH_DEVICE(unsigned, __fns) PTXSMITH_DEVICE(void, __sincosf) PTXSMITH_DEVICE(double, sinpi) PTXSMITH_DEVICE(double, cospi)
PTXSMITH_DEVICE(void, sincospi) PTXSMITH_DEVICE(double, rcbrt) PTXSMITH_DEVICE(double, normcdf) PTXSMITH_DEVICE(double, normcdfinv) PTXSMITH_DEVICE(float, normcdfinvf)
PTXSMITH_DEVICE(double, erfinv) PTXSMITH_DEVICE(float, erfinvf) PTXSMITH_DEVICE(double, erfcinv) PTXSMITH_DEVICE(float, erfcinvf) PTXSMITH_DEVICE(double, erfcx) PTXSMITH_DEVICE(float, erfcxf)
PTXSMITH_DEVICE(float, exp10f) PTXSMITH_DEVICE(double, exp10) PTXSMITH_DEVICE(float, norm3df) PTXSMITH_DEVICE(float, rnorm3df) PTXSMITH_DEVICE(float, norm4df)
PTXSMITH_DEVICE(float, rhypotf) PTXSMITH_DEVICE(double, rhypot) PTXSMITH_DEVICE(float, j0f) PTXSMITH_DEVICE(float, j1f) PTXSMITH_DEVICE(float, cyl_bessel_i0f)
PTXSMITH_DEVICE(int, __clock) PTXSMITH_DEVICE(void, __pipeline_memcpy_async) PTXSMITH_DEVICE(void, __pipeline_commit) PTXSMITH_DEVICE(void, __pipeline_wait_prior)
PTXSMITH_DEVICE(unsigned long long, globaltimer) PTXSMITH_DEVICE(unsigned, umin) PTXSMITH_DEVICE(unsigned, umax) PTXSMITH_DEVICE(long long, llmin) PTXSMITH_DEVICE(long long, llmax)
PTXSMITH_DEVICE(unsigned long long, ullmin) PTXSMITH_DEVICE(unsigned long long, ullmax)
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
struct textureReference { int normalized; int filterMode; int addressMode[3]; struct cudaChannelFormatDesc *channelDesc; };
template <class T, int D = 1, int M = 0> struct __attribute__((device_builtin_texture_type)) texture : textureReference {};
template <class T, int D = 1> struct __attribute__((device_builtin_surface_type)) surface {};
enum { cudaTextureType1D = 1, cudaTextureType2D, cudaTextureType3D, cudaTextureType1DLayered = 0xf1, cudaTextureType2DLayered, cudaSurfaceType2D = 2 };
#define PTXSMITH_TEXTURE(name) \
  template <class T, int D, int M, class... U> __device__ T name(texture<T, D, M> from, U... at); \
  template <class T, class... U> __device__ T name(cudaTextureObject_t from, U... at); \
  template <class T, class... U> __device__ void name(T *to, cudaTextureObject_t from, U... at);
PTXSMITH_TEXTURE(tex1Dfetch) PTXSMITH_TEXTURE(tex1D) PTXSMITH_TEXTURE(tex2D) PTXSMITH_TEXTURE(tex3D) PTXSMITH_TEXTURE(tex2DLayered) PTXSMITH_TEXTURE(tex1DLayered)
PTXSMITH_TEXTURE(texCubemap) PTXSMITH_TEXTURE(tex2DLod) PTXSMITH_TEXTURE(tex3DLod) PTXSMITH_TEXTURE(tex2Dgather) PTXSMITH_TEXTURE(tex2DGrad)
#define PTXSMITH_SURFACE(name) \
  template <class T, class... U> __device__ T name##read(cudaSurfaceObject_t from, U... at); \
  template <class T, class... U> __device__ void name##read(T *to, cudaSurfaceObject_t from, U... at); \
  template <class T, class... U> __device__ void name##write(T value, cudaSurfaceObject_t to, U... at); \
  template <class T, class R, int D, class... U> __device__ void name##write(T value, surface<R, D> to, U... at); \
  template <class T, class R, int D, class... U> __device__ void name##read(T *to, surface<R, D> from, U... at);
PTXSMITH_SURFACE(surf1D) PTXSMITH_SURFACE(surf2D) PTXSMITH_SURFACE(surf3D) PTXSMITH_SURFACE(surf2DLayered)
