/** The memory of this process: V8's heap, and what the C library keeps for the next who asks. */
import { constants, PerformanceObserver, performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import type { ProcessMemory } from './quiet-memory.ts'

export function processMemory(): ProcessMemory {
  let last = performance.eventLoopUtilization()
  let trim: (() => unknown) | undefined
  let isFirst: boolean = true
  const collections = reducersCollections()
  return {
    busyShare() {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, last)
      last = now
      return utilization
    },
    collect(isWanted) {
      if (isFirst) prepare()
      isFirst = false
      if (isWanted) collections.watch()
      else collections.stop()
      setFlagsFromString(isWanted ? '--memory-saver-mode' : '--no-memory-saver-mode')
    },
    hasCollected: () => collections.hasSeen(),
    trim() {
      trim ??= trimOf()
      trim()
    },
  }
}

function prepare(): void {
  // V8 looks once in this time whether it should collect; in eight seconds unless told.
  setFlagsFromString('--memory-reducer-delay-ms=1000')
  // A second time in a row finds next to nothing more.
  setFlagsFromString('--memory-reducer-gc-count=1')
}

/**
 * Whether V8's memory reducer has collected: it alone asks for external memory. In the mode others collect everything, too,
 * after each few megabytes, and give nothing up.
 */
function reducersCollections(): { watch(): void; stop(): void; hasSeen(): boolean } {
  const { NODE_PERFORMANCE_GC_MAJOR: whole, NODE_PERFORMANCE_GC_FLAGS_ALL_EXTERNAL_MEMORY: reducers } =
    constants
  let hasSeen: boolean = false
  const observer = new PerformanceObserver(list => {
    for (const entry of list.getEntries()) {
      const { kind, flags } = Object(Object(entry).detail)
      hasSeen ||= kind === whole && flags === reducers
    }
  })
  return {
    watch() {
      hasSeen = false
      observer.observe({ entryTypes: ['gc'] })
    },
    stop: () => observer.disconnect(),
    hasSeen: () => hasSeen,
  }
}

/** `malloc_trim` of glibc; nothing where there is none. */
function trimOf(): () => unknown {
  try {
    const { functions } = foreign().dlopen(null, { malloc_trim: { arguments: ['u64'], return: 'i32' } })
    return () => functions.malloc_trim(0n)
  } catch {
    return () => undefined
  }
}

/** Node says at the first use that the module is an experiment; whoever runs this program has not chosen it. */
function foreign(): typeof import('node:ffi') {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return process.getBuiltinModule('node:ffi')
  } finally {
    process.emitWarning = emitWarning
  }
}
