/** Where lines are proved that need other surroundings than a server in this process. */

/** A test by its file and its title as it is written there. */
export type Proof = { readonly file: string; readonly title: string }

/** Sorted by line. */
export const elsewhere: Readonly<Record<number, readonly Proof[]>> = {
  29: [
    {
      file: 'test/unit/apiservice/registry/create-name.test.ts',
      title: 'tries another name when one is taken',
    },
  ],
  104: [
    {
      file: 'test/unit/apiservice/http/watching.test.ts',
      title: 'a watcher that does not read is cut off, and the others get every event',
    },
    {
      file: 'test/unit/apiservice/http/watch-stream.test.ts',
      title: 'a watcher that leaves too much unread is cut off, and hears nothing more',
    },
  ],
}

/** Lines that are not proved yet, and why. */
export const deferred: Readonly<Record<number, string>> = {
  115: 'needs the probe of a kube-apiserver',
  116: 'needs a kube-apiserver that checks the certificate',
  119: 'needs a front proxy',
  120: 'needs the ConfigMap of a kube-apiserver',
  123: 'needs the reviews of a kube-apiserver',
  147: 'needs storage that can fail for long under a whole fleet',
  148: 'needs a kube-apiserver in front',
  149: 'needs replicas',
}

/** What the proofs of a line leave open. */
export const remarks: Readonly<Record<number, string>> = {
  57: 'another uid is a 422, as kube-apiserver answers, and not a 409',
  86: 'objects that are computed come sorted by what they are computed from',
  90: 'not yet on another replica',
  143: 'not yet by every replica',
}

/** Lines whose tests are still to be written. */
const late: readonly number[] = [
  113, 117, 118, 121, 122, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139,
  140, 141, 142, 143, 144, 145, 146, 150,
]

export const unwritten: ReadonlySet<number> = new Set(late)
