import { afterAll, afterEach, beforeAll } from 'vitest'
import type { LabCluster } from './cluster.ts'
import { type Lab, type LabOptions, startClusters } from './clusters.ts'

export type UsedLab = {
  /** The clusters by their order: east, west, north. Only for use in tests. */
  cluster(index: number): LabCluster
  readonly folder: string
  /** All of it. */
  up(): Lab
}

/** A lab for the tests around; when one of them fails, the logs stay and are named. */
export function useLab(options: LabOptions): UsedLab {
  let lab: Lab | undefined
  let hasFailed = false
  beforeAll(async () => {
    lab = await startClusters(options)
  })
  afterEach(({ task }) => {
    hasFailed ||= task.result?.state === 'fail'
  })
  afterAll(async () => {
    const logs = await lab?.stop({ keepLogs: hasFailed })
    if (logs !== undefined) process.stdout.write(`lab ${options.name}: logs are in ${logs}\n`)
  })
  const up = (): Lab => {
    if (lab === undefined) throw new Error('the lab is not up')
    return lab
  }
  return {
    cluster: index => {
      const found = up().clusters[index]
      if (found === undefined) throw new Error(`the lab has no cluster ${index}`)
      return found
    },
    get folder() {
      return up().folder
    },
    up,
  }
}
