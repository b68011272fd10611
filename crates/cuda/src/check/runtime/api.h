// The runtime's functions of the host. Only that they are there matters, so they take any values.
#define PTXSMITH_API(name) template <class... T> PTXSMITH_HD cudaError_t name(T... values) { return cudaSuccess; }
PTXSMITH_API(cudaMemcpy) PTXSMITH_API(cudaMemcpyAsync) PTXSMITH_API(cudaMemset) PTXSMITH_API(cudaMalloc) PTXSMITH_API(cudaMallocManaged)
PTXSMITH_API(cudaFree) PTXSMITH_API(cudaDeviceSynchronize) PTXSMITH_API(cudaGetLastError) PTXSMITH_API(cudaPeekAtLastError)
PTXSMITH_API(cudaDeviceReset) PTXSMITH_API(cudaSetDevice) PTXSMITH_API(cudaGetDevice) PTXSMITH_API(cudaGetDeviceCount)
PTXSMITH_API(cudaMallocHost) PTXSMITH_API(cudaFreeHost) PTXSMITH_API(cudaMallocPitch) PTXSMITH_API(cudaMemcpy2D) PTXSMITH_API(cudaMemcpy2DAsync)
PTXSMITH_API(cudaMemsetAsync) PTXSMITH_API(cudaMemset2D) PTXSMITH_API(cudaMemset2DAsync) PTXSMITH_API(cudaEventCreate) PTXSMITH_API(cudaEventCreateWithFlags)
PTXSMITH_API(cudaEventRecord) PTXSMITH_API(cudaEventSynchronize) PTXSMITH_API(cudaEventQuery) PTXSMITH_API(cudaEventElapsedTime)
PTXSMITH_API(cudaEventDestroy) PTXSMITH_API(cudaStreamCreate) PTXSMITH_API(cudaStreamCreateWithFlags) PTXSMITH_API(cudaStreamCreateWithPriority)
PTXSMITH_API(cudaStreamSynchronize) PTXSMITH_API(cudaStreamQuery) PTXSMITH_API(cudaStreamDestroy) PTXSMITH_API(cudaStreamWaitEvent)
PTXSMITH_API(cudaStreamAddCallback) PTXSMITH_API(cudaLaunchHostFunc) PTXSMITH_API(cudaStreamAttachMemAsync) PTXSMITH_API(cudaStreamBeginCapture)
PTXSMITH_API(cudaStreamEndCapture) PTXSMITH_API(cudaStreamIsCapturing) PTXSMITH_API(cudaGraphCreate) PTXSMITH_API(cudaGraphInstantiate)
PTXSMITH_API(cudaGraphLaunch) PTXSMITH_API(cudaGraphDestroy) PTXSMITH_API(cudaGraphExecDestroy) PTXSMITH_API(cudaGraphExecUpdate)
PTXSMITH_API(cudaGraphGetNodes) PTXSMITH_API(cudaGraphAddKernelNode) PTXSMITH_API(cudaHostAlloc) PTXSMITH_API(cudaHostRegister) PTXSMITH_API(cudaHostUnregister)
PTXSMITH_API(cudaHostGetDevicePointer) PTXSMITH_API(cudaHostGetFlags) PTXSMITH_API(cudaMallocAsync) PTXSMITH_API(cudaFreeAsync) PTXSMITH_API(cudaMallocArray)
PTXSMITH_API(cudaMalloc3D) PTXSMITH_API(cudaMalloc3DArray) PTXSMITH_API(cudaFreeArray) PTXSMITH_API(cudaMemcpy3D) PTXSMITH_API(cudaMemcpy3DAsync)
PTXSMITH_API(cudaMemcpyToArray) PTXSMITH_API(cudaMemcpyFromArray) PTXSMITH_API(cudaMemcpy2DToArray) PTXSMITH_API(cudaMemcpy2DFromArray)
PTXSMITH_API(cudaMemcpyPeer) PTXSMITH_API(cudaMemcpyPeerAsync) PTXSMITH_API(cudaMemGetInfo) PTXSMITH_API(cudaMemPrefetchAsync) PTXSMITH_API(cudaMemAdvise)
PTXSMITH_API(cudaGetDeviceProperties) PTXSMITH_API(cudaDeviceGetAttribute) PTXSMITH_API(cudaChooseDevice) PTXSMITH_API(cudaSetDeviceFlags)
PTXSMITH_API(cudaGetDeviceFlags) PTXSMITH_API(cudaDeviceSetLimit) PTXSMITH_API(cudaDeviceGetLimit) PTXSMITH_API(cudaDeviceSetCacheConfig)
PTXSMITH_API(cudaDeviceGetCacheConfig) PTXSMITH_API(cudaDeviceSetSharedMemConfig) PTXSMITH_API(cudaDeviceGetSharedMemConfig)
PTXSMITH_API(cudaDeviceCanAccessPeer) PTXSMITH_API(cudaDeviceEnablePeerAccess) PTXSMITH_API(cudaDeviceDisablePeerAccess)
PTXSMITH_API(cudaDeviceGetStreamPriorityRange) PTXSMITH_API(cudaDeviceGetPCIBusId) PTXSMITH_API(cudaDeviceGetByPCIBusId) PTXSMITH_API(cudaThreadSynchronize)
PTXSMITH_API(cudaThreadExit) PTXSMITH_API(cudaRuntimeGetVersion) PTXSMITH_API(cudaDriverGetVersion) PTXSMITH_API(cudaPointerGetAttributes)
PTXSMITH_API(cudaFuncSetAttribute) PTXSMITH_API(cudaFuncGetAttributes) PTXSMITH_API(cudaFuncSetCacheConfig) PTXSMITH_API(cudaFuncSetSharedMemConfig)
PTXSMITH_API(cudaLaunchCooperativeKernel) PTXSMITH_API(cudaLaunchKernelEx) PTXSMITH_API(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
PTXSMITH_API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) PTXSMITH_API(cudaOccupancyMaxPotentialBlockSize)
PTXSMITH_API(cudaOccupancyMaxPotentialBlockSizeVariableSMem) PTXSMITH_API(cudaOccupancyAvailableDynamicSMemPerBlock)
PTXSMITH_API(cudaCreateTextureObject) PTXSMITH_API(cudaDestroyTextureObject) PTXSMITH_API(cudaCreateSurfaceObject) PTXSMITH_API(cudaDestroySurfaceObject)
PTXSMITH_API(cudaGetTextureObjectResourceDesc) PTXSMITH_API(cudaUnbindTexture) PTXSMITH_API(cudaProfilerStart) PTXSMITH_API(cudaProfilerStop)
PTXSMITH_API(cudaIpcGetMemHandle) PTXSMITH_API(cudaIpcOpenMemHandle) PTXSMITH_API(cudaIpcCloseMemHandle) PTXSMITH_API(cudaGraphicsMapResources)
PTXSMITH_API(cudaGraphicsUnmapResources) PTXSMITH_API(cudaGraphicsUnregisterResource) PTXSMITH_API(cudaGraphicsResourceGetMappedPointer)
PTXSMITH_API(cudaDeviceGetDefaultMemPool) PTXSMITH_API(cudaMemPoolSetAttribute) PTXSMITH_API(cudaMemPoolTrimTo) PTXSMITH_API(cudaCtxResetPersistingL2Cache)
PTXSMITH_API(cudaStreamSetAttribute) PTXSMITH_API(cudaGetSymbolSize) PTXSMITH_API(cudaOccupancyMaxActiveClusters)
PTXSMITH_API(cudaArrayGetInfo) PTXSMITH_API(cudaArrayGetMemoryRequirements) PTXSMITH_API(cudaArrayGetPlane) PTXSMITH_API(cudaArrayGetSparseProperties)
PTXSMITH_API(cudaDestroyExternalMemory) PTXSMITH_API(cudaDestroyExternalSemaphore) PTXSMITH_API(cudaDeviceFlushGPUDirectRDMAWrites)
PTXSMITH_API(cudaDeviceGetGraphMemAttribute) PTXSMITH_API(cudaDeviceGetMemPool) PTXSMITH_API(cudaDeviceGetNvSciSyncAttributes)
PTXSMITH_API(cudaDeviceGetP2PAttribute) PTXSMITH_API(cudaDeviceGetTexture1DLinearMaxWidth) PTXSMITH_API(cudaDeviceGraphMemTrim)
PTXSMITH_API(cudaDeviceRegisterAsyncNotification) PTXSMITH_API(cudaDeviceSetGraphMemAttribute) PTXSMITH_API(cudaDeviceSetMemPool)
PTXSMITH_API(cudaDeviceUnregisterAsyncNotification) PTXSMITH_API(cudaEventRecordWithFlags) PTXSMITH_API(cudaExternalMemoryGetMappedBuffer)
PTXSMITH_API(cudaExternalMemoryGetMappedMipmappedArray) PTXSMITH_API(cudaFreeMipmappedArray) PTXSMITH_API(cudaFuncGetName) PTXSMITH_API(cudaFuncGetParamInfo)
PTXSMITH_API(cudaGetChannelDesc) PTXSMITH_API(cudaGetDriverEntryPoint) PTXSMITH_API(cudaGetDriverEntryPointByVersion) PTXSMITH_API(cudaGetFuncBySymbol)
PTXSMITH_API(cudaGetKernel) PTXSMITH_API(cudaGetMipmappedArrayLevel) PTXSMITH_API(cudaGetSurfaceObjectResourceDesc)
PTXSMITH_API(cudaGetTextureObjectResourceViewDesc) PTXSMITH_API(cudaGetTextureObjectTextureDesc) PTXSMITH_API(cudaGraphAddChildGraphNode)
PTXSMITH_API(cudaGraphAddDependencies) PTXSMITH_API(cudaGraphAddEmptyNode) PTXSMITH_API(cudaGraphAddEventRecordNode) PTXSMITH_API(cudaGraphAddEventWaitNode)
PTXSMITH_API(cudaGraphAddExternalSemaphoresSignalNode) PTXSMITH_API(cudaGraphAddExternalSemaphoresWaitNode) PTXSMITH_API(cudaGraphAddHostNode)
PTXSMITH_API(cudaGraphAddMemAllocNode) PTXSMITH_API(cudaGraphAddMemFreeNode) PTXSMITH_API(cudaGraphAddMemcpyNode) PTXSMITH_API(cudaGraphAddMemcpyNode1D)
PTXSMITH_API(cudaGraphAddMemcpyNodeFromSymbol) PTXSMITH_API(cudaGraphAddMemcpyNodeToSymbol) PTXSMITH_API(cudaGraphAddMemsetNode)
PTXSMITH_API(cudaGraphAddNode) PTXSMITH_API(cudaGraphChildGraphNodeGetGraph) PTXSMITH_API(cudaGraphClone) PTXSMITH_API(cudaGraphConditionalHandleCreate)
PTXSMITH_API(cudaGraphDebugDotPrint) PTXSMITH_API(cudaGraphDestroyNode) PTXSMITH_API(cudaGraphEventRecordNodeGetEvent)
PTXSMITH_API(cudaGraphEventRecordNodeSetEvent) PTXSMITH_API(cudaGraphEventWaitNodeGetEvent) PTXSMITH_API(cudaGraphEventWaitNodeSetEvent)
PTXSMITH_API(cudaGraphExecChildGraphNodeSetParams) PTXSMITH_API(cudaGraphExecEventRecordNodeSetEvent) PTXSMITH_API(cudaGraphExecEventWaitNodeSetEvent)
PTXSMITH_API(cudaGraphExecExternalSemaphoresSignalNodeSetParams) PTXSMITH_API(cudaGraphExecExternalSemaphoresWaitNodeSetParams)
PTXSMITH_API(cudaGraphExecGetFlags) PTXSMITH_API(cudaGraphExecHostNodeSetParams) PTXSMITH_API(cudaGraphExecKernelNodeSetParams)
PTXSMITH_API(cudaGraphExecMemcpyNodeSetParams) PTXSMITH_API(cudaGraphExecMemcpyNodeSetParams1D) PTXSMITH_API(cudaGraphExecMemcpyNodeSetParamsFromSymbol)
PTXSMITH_API(cudaGraphExecMemcpyNodeSetParamsToSymbol) PTXSMITH_API(cudaGraphExecMemsetNodeSetParams) PTXSMITH_API(cudaGraphExecNodeSetParams)
PTXSMITH_API(cudaGraphExternalSemaphoresSignalNodeGetParams) PTXSMITH_API(cudaGraphExternalSemaphoresSignalNodeSetParams)
PTXSMITH_API(cudaGraphExternalSemaphoresWaitNodeGetParams) PTXSMITH_API(cudaGraphExternalSemaphoresWaitNodeSetParams) PTXSMITH_API(cudaGraphGetEdges)
PTXSMITH_API(cudaGraphGetRootNodes) PTXSMITH_API(cudaGraphHostNodeGetParams) PTXSMITH_API(cudaGraphHostNodeSetParams)
PTXSMITH_API(cudaGraphInstantiateWithFlags) PTXSMITH_API(cudaGraphInstantiateWithParams) PTXSMITH_API(cudaGraphKernelNodeCopyAttributes)
PTXSMITH_API(cudaGraphKernelNodeGetAttribute) PTXSMITH_API(cudaGraphKernelNodeGetParams) PTXSMITH_API(cudaGraphKernelNodeSetAttribute)
PTXSMITH_API(cudaGraphKernelNodeSetParams) PTXSMITH_API(cudaGraphMemAllocNodeGetParams) PTXSMITH_API(cudaGraphMemFreeNodeGetParams)
PTXSMITH_API(cudaGraphMemcpyNodeGetParams) PTXSMITH_API(cudaGraphMemcpyNodeSetParams) PTXSMITH_API(cudaGraphMemcpyNodeSetParams1D)
PTXSMITH_API(cudaGraphMemcpyNodeSetParamsFromSymbol) PTXSMITH_API(cudaGraphMemcpyNodeSetParamsToSymbol) PTXSMITH_API(cudaGraphMemsetNodeGetParams)
PTXSMITH_API(cudaGraphMemsetNodeSetParams) PTXSMITH_API(cudaGraphNodeFindInClone) PTXSMITH_API(cudaGraphNodeGetDependencies)
PTXSMITH_API(cudaGraphNodeGetDependentNodes) PTXSMITH_API(cudaGraphNodeGetEnabled) PTXSMITH_API(cudaGraphNodeGetType) PTXSMITH_API(cudaGraphNodeSetEnabled)
PTXSMITH_API(cudaGraphNodeSetParams) PTXSMITH_API(cudaGraphReleaseUserObject) PTXSMITH_API(cudaGraphRemoveDependencies)
PTXSMITH_API(cudaGraphRetainUserObject) PTXSMITH_API(cudaGraphUpload) PTXSMITH_API(cudaGraphicsResourceGetMappedMipmappedArray)
PTXSMITH_API(cudaGraphicsResourceSetMapFlags) PTXSMITH_API(cudaGraphicsSubResourceGetMappedArray) PTXSMITH_API(cudaImportExternalMemory)
PTXSMITH_API(cudaImportExternalSemaphore) PTXSMITH_API(cudaInitDevice) PTXSMITH_API(cudaIpcGetEventHandle) PTXSMITH_API(cudaIpcOpenEventHandle)
PTXSMITH_API(cudaKernelSetAttributeForDevice) PTXSMITH_API(cudaLaunchCooperativeKernelMultiDevice) PTXSMITH_API(cudaLaunchKernelExC)
PTXSMITH_API(cudaLibraryEnumerateKernels) PTXSMITH_API(cudaLibraryGetGlobal) PTXSMITH_API(cudaLibraryGetKernel) PTXSMITH_API(cudaLibraryGetKernelCount)
PTXSMITH_API(cudaLibraryGetManaged) PTXSMITH_API(cudaLibraryGetUnifiedFunction) PTXSMITH_API(cudaLibraryLoadData) PTXSMITH_API(cudaLibraryLoadFromFile)
PTXSMITH_API(cudaLibraryUnload) PTXSMITH_API(cudaMallocFromPoolAsync) PTXSMITH_API(cudaMallocMipmappedArray) PTXSMITH_API(cudaMemPoolCreate)
PTXSMITH_API(cudaMemPoolDestroy) PTXSMITH_API(cudaMemPoolExportPointer) PTXSMITH_API(cudaMemPoolExportToShareableHandle) PTXSMITH_API(cudaMemPoolGetAccess)
PTXSMITH_API(cudaMemPoolGetAttribute) PTXSMITH_API(cudaMemPoolImportFromShareableHandle) PTXSMITH_API(cudaMemPoolImportPointer)
PTXSMITH_API(cudaMemPoolSetAccess) PTXSMITH_API(cudaMemRangeGetAttribute) PTXSMITH_API(cudaMemRangeGetAttributes) PTXSMITH_API(cudaMemcpy2DArrayToArray)
PTXSMITH_API(cudaMemcpy2DFromArrayAsync) PTXSMITH_API(cudaMemcpy2DToArrayAsync) PTXSMITH_API(cudaMemcpy3DBatchAsync) PTXSMITH_API(cudaMemcpy3DPeer)
PTXSMITH_API(cudaMemcpy3DPeerAsync) PTXSMITH_API(cudaMemcpyArrayToArray) PTXSMITH_API(cudaMemcpyBatchAsync) PTXSMITH_API(cudaMemcpyFromArrayAsync)
PTXSMITH_API(cudaMemcpyToArrayAsync) PTXSMITH_API(cudaMemset3D) PTXSMITH_API(cudaMemset3DAsync) PTXSMITH_API(cudaMipmappedArrayGetMemoryRequirements)
PTXSMITH_API(cudaMipmappedArrayGetSparseProperties) PTXSMITH_API(cudaOccupancyMaxPotentialClusterSize) PTXSMITH_API(cudaSetDoubleForDevice)
PTXSMITH_API(cudaSetDoubleForHost) PTXSMITH_API(cudaSetValidDevices) PTXSMITH_API(cudaSignalExternalSemaphoresAsync)
PTXSMITH_API(cudaStreamBeginCaptureToGraph) PTXSMITH_API(cudaStreamCopyAttributes) PTXSMITH_API(cudaStreamGetAttribute) PTXSMITH_API(cudaStreamGetCaptureInfo)
PTXSMITH_API(cudaStreamGetDevice) PTXSMITH_API(cudaStreamGetFlags) PTXSMITH_API(cudaStreamGetId) PTXSMITH_API(cudaStreamGetPriority)
PTXSMITH_API(cudaStreamUpdateCaptureDependencies) PTXSMITH_API(cudaThreadExchangeStreamCaptureMode) PTXSMITH_API(cudaThreadGetLimit)
PTXSMITH_API(cudaThreadSetLimit) PTXSMITH_API(cudaUserObjectCreate) PTXSMITH_API(cudaUserObjectRelease) PTXSMITH_API(cudaUserObjectRetain)
PTXSMITH_API(cudaWaitExternalSemaphoresAsync)
// A symbol is a variable of the device, which is not copied.
#define PTXSMITH_SYMBOL(name, before) \
  template <class S, class... T> cudaError_t name(before const S &symbol, T... values) { return cudaSuccess; }
#define PTXSMITH_TO void *to,
#define PTXSMITH_NONE
PTXSMITH_SYMBOL(cudaMemcpyToSymbol, PTXSMITH_NONE) PTXSMITH_SYMBOL(cudaMemcpyToSymbolAsync, PTXSMITH_NONE)
PTXSMITH_SYMBOL(cudaMemcpyFromSymbol, PTXSMITH_TO) PTXSMITH_SYMBOL(cudaMemcpyFromSymbolAsync, PTXSMITH_TO)
template <class P, class S> cudaError_t cudaGetSymbolAddress(P at, const S &symbol) { return cudaSuccess; }
template <class... T> cudaError_t cudaBindTexture(T &&...) { return cudaSuccess; }
template <class... T> cudaError_t cudaBindTexture2D(T &&...) { return cudaSuccess; }
template <class... T> cudaError_t cudaBindTextureToArray(T &&...) { return cudaSuccess; }
template <class... T> cudaError_t cudaBindSurfaceToArray(T &&...) { return cudaSuccess; }
PTXSMITH_HD const char *cudaGetErrorString(cudaError_t) { return ""; }
PTXSMITH_HD const char *cudaGetErrorName(cudaError_t) { return ""; }
enum {
  cudaHostAllocDefault, cudaHostAllocPortable, cudaHostAllocMapped, cudaHostAllocWriteCombined, cudaHostRegisterDefault, cudaHostRegisterPortable,
  cudaHostRegisterMapped, cudaHostRegisterReadOnly, cudaEventDefault, cudaEventBlockingSync, cudaEventDisableTiming, cudaEventInterprocess, cudaStreamDefault,
  cudaStreamNonBlocking, cudaMemAttachGlobal, cudaMemAttachHost, cudaMemAttachSingle, cudaDeviceScheduleAuto, cudaDeviceScheduleSpin,
  cudaDeviceScheduleYield, cudaDeviceScheduleBlockingSync, cudaDeviceMapHost, cudaArrayDefault, cudaArrayLayered, cudaArraySurfaceLoadStore,
  cudaArrayCubemap, cudaOccupancyDefault, cudaCpuDeviceId, cudaInvalidDeviceId, cudaIpcMemLazyEnablePeerAccess, cudaGraphInstantiateFlagAutoFreeOnLaunch
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock, cudaDevAttrMultiProcessorCount, cudaDevAttrWarpSize, cudaDevAttrMaxSharedMemoryPerBlock, cudaDevAttrMaxRegistersPerBlock,
  cudaDevAttrMaxSharedMemoryPerBlockOptin, cudaDevAttrMaxSharedMemoryPerMultiprocessor, cudaDevAttrComputeCapabilityMajor, cudaDevAttrClockRate,
  cudaDevAttrComputeCapabilityMinor, cudaDevAttrMaxBlocksPerMultiprocessor, cudaDevAttrMaxThreadsPerMultiProcessor, cudaDevAttrCooperativeLaunch,
  cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ, cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ,
  cudaDevAttrL2CacheSize, cudaDevAttrMemoryClockRate, cudaDevAttrGlobalMemoryBusWidth, cudaDevAttrConcurrentManagedAccess, cudaDevAttrUnifiedAddressing,
  cudaDevAttrManagedMemory, cudaDevAttrMemoryPoolsSupported, cudaDevAttrPageableMemoryAccess, cudaDevAttrComputePreemptionSupported, cudaDevAttrIntegrated,
  cudaDevAttrTotalConstantMemory, cudaDevAttrMaxPitch, cudaDevAttrMaxRegistersPerMultiprocessor, cudaDevAttrTextureAlignment,
  cudaDevAttrGpuOverlap, cudaDevAttrKernelExecTimeout, cudaDevAttrCanMapHostMemory, cudaDevAttrComputeMode, cudaDevAttrMaxTexture1DWidth,
  cudaDevAttrMaxTexture2DWidth, cudaDevAttrMaxTexture2DHeight, cudaDevAttrMaxTexture3DWidth, cudaDevAttrMaxTexture3DHeight,
  cudaDevAttrMaxTexture3DDepth, cudaDevAttrMaxTexture2DLayeredWidth, cudaDevAttrMaxTexture2DLayeredHeight, cudaDevAttrMaxTexture2DLayeredLayers,
  cudaDevAttrSurfaceAlignment, cudaDevAttrConcurrentKernels, cudaDevAttrEccEnabled, cudaDevAttrPciBusId, cudaDevAttrPciDeviceId,
  cudaDevAttrPciDomainId, cudaDevAttrTccDriver, cudaDevAttrAsyncEngineCount, cudaDevAttrTexturePitchAlignment, cudaDevAttrMaxTextureCubemapWidth,
  cudaDevAttrMaxSurface1DWidth, cudaDevAttrMaxSurface2DWidth, cudaDevAttrMaxSurface2DHeight, cudaDevAttrStreamPrioritiesSupported,
  cudaDevAttrGlobalL1CacheSupported, cudaDevAttrLocalL1CacheSupported, cudaDevAttrIsMultiGpuBoard, cudaDevAttrMultiGpuBoardGroupID,
  cudaDevAttrHostNativeAtomicSupported, cudaDevAttrSingleToDoublePrecisionPerfRatio, cudaDevAttrCanUseHostPointerForRegisteredMem,
  cudaDevAttrCooperativeMultiDeviceLaunch, cudaDevAttrCanFlushRemoteWrites, cudaDevAttrHostRegisterSupported,
  cudaDevAttrPageableMemoryAccessUsesHostPageTables, cudaDevAttrDirectManagedMemAccessFromHost, cudaDevAttrMaxPersistingL2CacheSize,
  cudaDevAttrMaxAccessPolicyWindowSize, cudaDevAttrReservedSharedMemoryPerBlock, cudaDevAttrSparseCudaArraySupported,
  cudaDevAttrGPUDirectRDMASupported, cudaDevAttrClusterLaunch
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize, cudaFuncAttributePreferredSharedMemoryCarveout, cudaFuncAttributeNonPortableClusterSizeAllowed };
enum { cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxShared = 100, cudaSharedmemCarveoutMaxL1 = 0 };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize, cudaLimitDevRuntimeSyncDepth, cudaLimitDevRuntimePendingLaunchCount, cudaLimitPersistingL2CacheSize };
enum cudaMemoryAdvise { cudaMemAdviseSetReadMostly, cudaMemAdviseUnsetReadMostly, cudaMemAdviseSetPreferredLocation, cudaMemAdviseUnsetPreferredLocation, cudaMemAdviseSetAccessedBy, cudaMemAdviseUnsetAccessedBy };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive, cudaStreamCaptureStatusInvalidated };
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies, cudaMemPoolReuseAllowOpportunistic, cudaMemPoolReuseAllowInternalDependencies, cudaMemPoolAttrReleaseThreshold,
  cudaMemPoolAttrReservedMemCurrent, cudaMemPoolAttrReservedMemHigh, cudaMemPoolAttrUsedMemCurrent, cudaMemPoolAttrUsedMemHigh
};
enum cudaMemAllocationType { cudaMemAllocationTypeInvalid, cudaMemAllocationTypePinned };
enum cudaMemAllocationHandleType { cudaMemHandleTypeNone, cudaMemHandleTypePosixFileDescriptor, cudaMemHandleTypeWin32, cudaMemHandleTypeWin32Kmt, cudaMemHandleTypeFabric };
enum cudaMemLocationType { cudaMemLocationTypeInvalid, cudaMemLocationTypeDevice, cudaMemLocationTypeHost, cudaMemLocationTypeHostNuma, cudaMemLocationTypeHostNumaCurrent };
enum cudaMemAccessFlags { cudaMemAccessFlagsProtNone, cudaMemAccessFlagsProtRead, cudaMemAccessFlagsProtReadWrite = 3 };
enum cudaDeviceP2PAttr { cudaDevP2PAttrPerformanceRank = 1, cudaDevP2PAttrAccessSupported, cudaDevP2PAttrNativeAtomicSupported, cudaDevP2PAttrCudaArrayAccessSupported };
enum cudaGraphMemAttributeType { cudaGraphMemAttrUsedMemCurrent, cudaGraphMemAttrUsedMemHigh, cudaGraphMemAttrReservedMemCurrent, cudaGraphMemAttrReservedMemHigh };
enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemset, cudaGraphNodeTypeHost, cudaGraphNodeTypeGraph, cudaGraphNodeTypeEmpty,
  cudaGraphNodeTypeWaitEvent, cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeExtSemaphoreSignal, cudaGraphNodeTypeExtSemaphoreWait, cudaGraphNodeTypeMemAlloc,
  cudaGraphNodeTypeMemFree, cudaGraphNodeTypeConditional
};
enum { cudaEventRecordDefault, cudaEventRecordExternal, cudaEventWaitDefault = 0, cudaEventWaitExternal, cudaMemPoolCreateUsageHwDecompress };
enum cudaExternalMemoryHandleType {
  cudaExternalMemoryHandleTypeOpaqueFd = 1, cudaExternalMemoryHandleTypeOpaqueWin32, cudaExternalMemoryHandleTypeOpaqueWin32Kmt, cudaExternalMemoryHandleTypeD3D12Heap,
  cudaExternalMemoryHandleTypeD3D12Resource
};
enum cudaExternalSemaphoreHandleType {
  cudaExternalSemaphoreHandleTypeOpaqueFd = 1, cudaExternalSemaphoreHandleTypeOpaqueWin32, cudaExternalSemaphoreHandleTypeOpaqueWin32Kmt,
  cudaExternalSemaphoreHandleTypeD3D12Fence, cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd = 9, cudaExternalSemaphoreHandleTypeTimelineSemaphoreWin32
};
enum { cudaExternalMemoryDedicated = 1 };
enum { cudaGraphicsRegisterFlagsNone, cudaGraphicsRegisterFlagsReadOnly, cudaGraphicsRegisterFlagsWriteDiscard, cudaGraphicsRegisterFlagsSurfaceLoadStore = 4 };
enum { cudaGraphicsMapFlagsNone, cudaGraphicsMapFlagsReadOnly, cudaGraphicsMapFlagsWriteDiscard };
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited, cudaComputeModeExclusiveProcess };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaResourceType { cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D };
enum cudaChannelFormatKind { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat, cudaChannelFormatKindNone };
enum cudaGraphExecUpdateResult { cudaGraphExecUpdateSuccess, cudaGraphExecUpdateError };
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct cudaGraphicsResource *cudaGraphicsResource_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef const struct cudaMipmappedArray *cudaMipmappedArray_const_t;
typedef struct CUuserObject_st *cudaUserObject_t;
typedef struct CUexternalMemory_st *cudaExternalMemory_t;
typedef struct CUexternalSemaphore_st *cudaExternalSemaphore_t;
typedef struct CUfunc_st *cudaFunction_t;
typedef struct CUkern_st *cudaKernel_t;
typedef struct CUlib_st *cudaLibrary_t;
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void *);
typedef void (*cudaHostFn_t)(void *);
struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
template <class T> cudaChannelFormatDesc cudaCreateChannelDesc() { return {}; }
inline cudaChannelFormatDesc cudaCreateChannelDesc(int, int, int, int, cudaChannelFormatKind) { return {}; }
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
inline cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return {w, h, d}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch, size_t x, size_t y) { return {p, pitch, x, y}; }
struct cudaMemcpy3DParms { cudaArray_t srcArray; cudaPos srcPos; cudaPitchedPtr srcPtr; cudaArray_t dstArray; cudaPos dstPos; cudaPitchedPtr dstPtr; cudaExtent extent; cudaMemcpyKind kind; };
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct { cudaArray_t array; } array;
    struct { cudaMipmappedArray_t mipmap; } mipmap;
    struct { void *devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
    struct { void *devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
  } res;
};
struct cudaTextureDesc { cudaTextureAddressMode addressMode[3]; cudaTextureFilterMode filterMode; cudaTextureReadMode readMode; int sRGB; float borderColor[4]; int normalizedCoords; unsigned maxAnisotropy; };
struct cudaResourceViewDesc { int format; };
struct cudaPointerAttributes { cudaMemoryType type; int device; void *devicePointer, *hostPointer; };
struct cudaFuncAttributes { size_t sharedSizeBytes, constSizeBytes, localSizeBytes; int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes; };
struct cudaIpcMemHandle_t { char reserved[64]; };
struct cudaIpcEventHandle_t { char reserved[64]; };
struct cudaMemLocation { cudaMemLocationType type; int id; };
struct cudaMemAccessDesc { cudaMemLocation location; cudaMemAccessFlags flags; };
struct cudaMemPoolProps { cudaMemAllocationType allocType; cudaMemAllocationHandleType handleTypes; cudaMemLocation location; void *win32SecurityAttributes; size_t maxSize; };
struct cudaKernelNodeParams { void *func; dim3 gridDim, blockDim; unsigned sharedMemBytes; void **kernelParams, **extra; };
struct cudaMemsetParams { void *dst; size_t pitch; unsigned value, elementSize; size_t width, height; };
struct cudaHostNodeParams { cudaHostFn_t fn; void *userData; };
struct cudaMemAllocNodeParams { cudaMemPoolProps poolProps; const cudaMemAccessDesc *accessDescs; size_t accessDescCount, bytesize; void *dptr; };
struct cudaGraphExecUpdateResultInfo { cudaGraphExecUpdateResult result; cudaGraphNode_t errorNode, errorFromNode; };
struct cudaExternalMemoryHandleDesc {
  cudaExternalMemoryHandleType type;
  union { int fd; struct { void *handle; const void *name; } win32; const void *nvSciBufObject; } handle;
  unsigned long long size; unsigned flags;
};
struct cudaExternalMemoryBufferDesc { unsigned long long offset, size; unsigned flags; };
struct cudaExternalMemoryMipmappedArrayDesc { unsigned long long offset; cudaChannelFormatDesc formatDesc; cudaExtent extent; unsigned flags, numLevels; };
struct cudaExternalSemaphoreHandleDesc {
  cudaExternalSemaphoreHandleType type;
  union { int fd; struct { void *handle; const void *name; } win32; const void *nvSciSyncObj; } handle;
  unsigned flags;
};
struct cudaExternalSemaphoreSignalParams { struct { struct { unsigned long long value; } fence; } params; unsigned flags; };
struct cudaExternalSemaphoreWaitParams { struct { struct { unsigned long long value; } fence; } params; unsigned flags; };
struct cudaMemcpy3DPeerParms {
  cudaArray_t srcArray; cudaPos srcPos; cudaPitchedPtr srcPtr; int srcDevice; cudaArray_t dstArray; cudaPos dstPos; cudaPitchedPtr dstPtr; int dstDevice; cudaExtent extent;
};
struct cudaAccessPolicyWindow { void *base_ptr; size_t num_bytes; float hitRatio; int hitProp, missProp; };
enum cudaAccessProperty { cudaAccessPropertyNormal, cudaAccessPropertyStreaming, cudaAccessPropertyPersisting };
enum cudaLaunchAttributeID {
  cudaLaunchAttributeClusterDimension, cudaLaunchAttributeProgrammaticStreamSerialization, cudaLaunchAttributeCooperative,
  cudaLaunchAttributePriority, cudaLaunchAttributeAccessPolicyWindow, cudaLaunchAttributeClusterSchedulingPolicyPreference
};
enum { cudaStreamAttributeAccessPolicyWindow };
union cudaLaunchAttributeValue { struct { unsigned x, y, z; } clusterDim; int programmaticStreamSerializationAllowed, cooperative, priority; cudaAccessPolicyWindow accessPolicyWindow; };
struct cudaLaunchAttribute { cudaLaunchAttributeID id; cudaLaunchAttributeValue val; };
typedef cudaLaunchAttributeValue cudaStreamAttrValue;
struct cudaLaunchConfig_t { dim3 gridDim, blockDim; size_t dynamicSmemBytes; cudaStream_t stream; cudaLaunchAttribute *attrs; unsigned numAttrs; };
struct cudaUUID_t { char bytes[16]; };
struct cudaDeviceProp {
  char name[256]; cudaUUID_t uuid; size_t totalGlobalMem, sharedMemPerBlock, memPitch, totalConstMem, textureAlignment, surfaceAlignment, sharedMemPerMultiprocessor,
    sharedMemPerBlockOptin, reservedSharedMemPerBlock;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor, deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled,
    integrated, canMapHostMemory, computeMode, maxTexture1D, maxTexture2D[2], maxTexture3D[3], maxTexture1DLayered[2], maxTexture2DLayered[3], concurrentKernels, ECCEnabled,
    pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize,
    maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported, regsPerMultiprocessor, managedMemory, isMultiGpuBoard,
    multiGpuBoardGroupID, singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, cooperativeLaunch,
    cooperativeMultiDeviceLaunch, maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
};
#define CUDART_CB
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_MAX_NORMAL_F 3.402823466e+38f
