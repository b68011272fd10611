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
// Operations on halves and bytes of a word.
#define PTXSMITH_VIDEO(name) PTXSMITH_DEVICE(unsigned, name##2) PTXSMITH_DEVICE(unsigned, name##4)
PTXSMITH_VIDEO(__vabs) PTXSMITH_VIDEO(__vabsss) PTXSMITH_VIDEO(__vneg) PTXSMITH_VIDEO(__vnegss) PTXSMITH_VIDEO(__vadd) PTXSMITH_VIDEO(__vaddss) PTXSMITH_VIDEO(__vaddus)
PTXSMITH_VIDEO(__vsub) PTXSMITH_VIDEO(__vsubss) PTXSMITH_VIDEO(__vsubus) PTXSMITH_VIDEO(__vavgs) PTXSMITH_VIDEO(__vavgu) PTXSMITH_VIDEO(__vhaddu)
PTXSMITH_VIDEO(__vabsdiffs) PTXSMITH_VIDEO(__vabsdiffu) PTXSMITH_VIDEO(__vsads) PTXSMITH_VIDEO(__vsadu) PTXSMITH_VIDEO(__vmaxs) PTXSMITH_VIDEO(__vmaxu)
PTXSMITH_VIDEO(__vmins) PTXSMITH_VIDEO(__vminu)
#define PTXSMITH_COMPARED(name) \
  PTXSMITH_VIDEO(name##eq) PTXSMITH_VIDEO(name##ne) PTXSMITH_VIDEO(name##ges) PTXSMITH_VIDEO(name##geu) PTXSMITH_VIDEO(name##gts) PTXSMITH_VIDEO(name##gtu) \
  PTXSMITH_VIDEO(name##les) PTXSMITH_VIDEO(name##leu) PTXSMITH_VIDEO(name##lts) PTXSMITH_VIDEO(name##ltu)
PTXSMITH_COMPARED(__vcmp) PTXSMITH_COMPARED(__vset)
#define PTXSMITH_CHOSEN(name) \
  PTXSMITH_DEVICE(int, name##_s32) PTXSMITH_DEVICE(unsigned, name##_u32) PTXSMITH_DEVICE(unsigned, name##_s16x2) PTXSMITH_DEVICE(unsigned, name##_u16x2) \
  PTXSMITH_DEVICE(int, name##_s32_relu) PTXSMITH_DEVICE(unsigned, name##_s16x2_relu)
PTXSMITH_CHOSEN(__viaddmax) PTXSMITH_CHOSEN(__viaddmin) PTXSMITH_CHOSEN(__vimax) PTXSMITH_CHOSEN(__vimin) PTXSMITH_CHOSEN(__vimax3) PTXSMITH_CHOSEN(__vimin3)
PTXSMITH_CHOSEN(__vibmax) PTXSMITH_CHOSEN(__vibmin)
PTXSMITH_SAME(__hadd) PTXSMITH_DEVICE(unsigned, __uhadd) PTXSMITH_DEVICE(unsigned, __urhadd) PTXSMITH_DEVICE(unsigned, __dp2a_lo) PTXSMITH_DEVICE(unsigned, __dp2a_hi)
PTXSMITH_DEVICE(unsigned, __funnelshift_lc) PTXSMITH_DEVICE(unsigned, __funnelshift_rc) PTXSMITH_DEVICE(unsigned, __isConstant) PTXSMITH_DEVICE(unsigned, __isLocal)
PTXSMITH_DEVICE(size_t, __cvta_generic_to_constant) PTXSMITH_DEVICE(size_t, __cvta_generic_to_local) PTXSMITH_DEVICE(void *, __cvta_global_to_generic)
PTXSMITH_DEVICE(void *, __cvta_shared_to_generic) PTXSMITH_DEVICE(void *, __cvta_constant_to_generic) PTXSMITH_DEVICE(void *, __cvta_local_to_generic)
PTXSMITH_DEVICE(void, __barrier_sync) PTXSMITH_DEVICE(void, __barrier_sync_count) PTXSMITH_DEVICE(int, __isfinited) PTXSMITH_DEVICE(int, __signbit)
PTXSMITH_DEVICE(int, __signbitd) PTXSMITH_DEVICE(int, __signbitf)
#define PTXSMITH_ROUNDED(type, name) \
  PTXSMITH_DEVICE(type, name##_rn) PTXSMITH_DEVICE(type, name##_rz) PTXSMITH_DEVICE(type, name##_ru) PTXSMITH_DEVICE(type, name##_rd)
PTXSMITH_ROUNDED(float, __fadd) PTXSMITH_ROUNDED(float, __fsub) PTXSMITH_ROUNDED(float, __fmul) PTXSMITH_ROUNDED(float, __fmaf) PTXSMITH_ROUNDED(float, __fdiv)
PTXSMITH_ROUNDED(float, __fsqrt) PTXSMITH_ROUNDED(float, __frcp) PTXSMITH_ROUNDED(double, __dadd) PTXSMITH_ROUNDED(double, __dsub) PTXSMITH_ROUNDED(double, __dmul)
PTXSMITH_ROUNDED(double, __fma) PTXSMITH_ROUNDED(double, __ddiv) PTXSMITH_ROUNDED(double, __dsqrt) PTXSMITH_ROUNDED(double, __drcp)
// Conversions, in every direction of rounding.
PTXSMITH_ROUNDED(int, __float2int) PTXSMITH_ROUNDED(unsigned, __float2uint) PTXSMITH_ROUNDED(long long, __float2ll) PTXSMITH_ROUNDED(unsigned long long, __float2ull)
PTXSMITH_ROUNDED(int, __double2int) PTXSMITH_ROUNDED(unsigned, __double2uint) PTXSMITH_ROUNDED(long long, __double2ll) PTXSMITH_ROUNDED(unsigned long long, __double2ull)
PTXSMITH_ROUNDED(float, __double2float) PTXSMITH_ROUNDED(float, __int2float) PTXSMITH_ROUNDED(float, __uint2float) PTXSMITH_ROUNDED(float, __ll2float)
PTXSMITH_ROUNDED(float, __ull2float) PTXSMITH_ROUNDED(double, __int2double) PTXSMITH_ROUNDED(double, __uint2double) PTXSMITH_ROUNDED(double, __ll2double)
PTXSMITH_ROUNDED(double, __ull2double) PTXSMITH_ROUNDED(float, __fmaf_ieee)
PTXSMITH_DEVICE(double, nan) PTXSMITH_DEVICE(float, nanf)
PTXSMITH_DEVICE(int, __rhadd) PTXSMITH_DEVICE(unsigned, __fns) PTXSMITH_DEVICE(void, __sincosf) PTXSMITH_DEVICE(double, sinpi) PTXSMITH_DEVICE(double, cospi)
PTXSMITH_DEVICE(void, sincospi) PTXSMITH_DEVICE(double, rcbrt) PTXSMITH_DEVICE(double, normcdf) PTXSMITH_DEVICE(double, normcdfinv) PTXSMITH_DEVICE(float, normcdfinvf)
PTXSMITH_DEVICE(double, erfinv) PTXSMITH_DEVICE(float, erfinvf) PTXSMITH_DEVICE(double, erfcinv) PTXSMITH_DEVICE(float, erfcinvf) PTXSMITH_DEVICE(double, erfcx) PTXSMITH_DEVICE(float, erfcxf)
PTXSMITH_DEVICE(float, exp10f) PTXSMITH_DEVICE(double, exp10) PTXSMITH_DEVICE(float, norm3df) PTXSMITH_DEVICE(float, rnorm3df) PTXSMITH_DEVICE(float, norm4df)
PTXSMITH_DEVICE(float, rnorm4df) PTXSMITH_DEVICE(double, norm3d) PTXSMITH_DEVICE(double, rnorm3d) PTXSMITH_DEVICE(double, norm4d) PTXSMITH_DEVICE(double, rnorm4d)
PTXSMITH_DEVICE(double, norm) PTXSMITH_DEVICE(float, normf) PTXSMITH_DEVICE(double, rnorm) PTXSMITH_DEVICE(float, rnormf)
PTXSMITH_DEVICE(float, rhypotf) PTXSMITH_DEVICE(double, rhypot) PTXSMITH_DEVICE(float, cyl_bessel_i0f) PTXSMITH_DEVICE(float, cyl_bessel_i1f)
PTXSMITH_DEVICE(double, cyl_bessel_i0) PTXSMITH_DEVICE(double, cyl_bessel_i1)
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
PTXSMITH_TEXTURE(texCubemap) PTXSMITH_TEXTURE(texCubemapLayered) PTXSMITH_TEXTURE(tex2Dgather)
#define PTXSMITH_LEVELS(name) PTXSMITH_TEXTURE(name##Lod) PTXSMITH_TEXTURE(name##Grad)
PTXSMITH_LEVELS(tex1D) PTXSMITH_LEVELS(tex2D) PTXSMITH_LEVELS(tex3D) PTXSMITH_LEVELS(tex1DLayered) PTXSMITH_LEVELS(tex2DLayered) PTXSMITH_LEVELS(texCubemap)
PTXSMITH_LEVELS(texCubemapLayered)
#define PTXSMITH_SURFACE(name) \
  template <class T, class... U> __device__ T name##read(cudaSurfaceObject_t from, U... at); \
  template <class T, class... U> __device__ void name##read(T *to, cudaSurfaceObject_t from, U... at); \
  template <class T, class... U> __device__ void name##write(T value, cudaSurfaceObject_t to, U... at); \
  template <class T, class R, int D, class... U> __device__ void name##write(T value, surface<R, D> to, U... at); \
  template <class T, class R, int D, class... U> __device__ void name##read(T *to, surface<R, D> from, U... at);
PTXSMITH_SURFACE(surf1D) PTXSMITH_SURFACE(surf2D) PTXSMITH_SURFACE(surf3D) PTXSMITH_SURFACE(surf1DLayered) PTXSMITH_SURFACE(surf2DLayered)
PTXSMITH_SURFACE(surfCubemap) PTXSMITH_SURFACE(surfCubemapLayered)
