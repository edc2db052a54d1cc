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
  130: [
    {
      file: 'test/unit/apiservice/http/stages.test.ts',
      title: 'answers 504 when the time of ?timeout= has passed, and aborts the work',
    },
    {
      file: 'test/unit/apiservice/http/stages.test.ts',
      title: 'does not bound watches, whatever they ask for',
    },
    { file: 'test/unit/apiservice/server.test.ts', title: 'a request that takes too long is a 504 Status' },
  ],
  131: [
    {
      file: 'test/unit/apiservice/fairness/stage.test.ts',
      title: 'refuses with 429 beyond the queue of the client, and not the others',
    },
  ],
  133: [
    {
      file: 'test/unit/apiservice/http/stages.test.ts',
      title: 'refuses new requests with 429 once the shutdown has begun, but not health',
    },
    { file: 'test/unit/apiservice/http/shutdown.test.ts', title: 'waits 10 s for a request, and no longer' },
  ],
  145: [{ file: 'test/clients/clients.test.ts', title: 'Go clients of $context with $lists' }],
  146: [
    { file: 'test/kubectl/every-kind.test.ts', title: 'works with $title' },
    { file: 'test/kubectl/commands.test.ts', title: 'answers auth can-i' },
  ],
  150: [{ file: 'test/conformance/recorded-answers.test.ts', title: '%s' }],
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
  90: 'not yet on another replica',
  134: 'it needs no 503: it listens only when it can answer for every kind. Until then connections are refused, and a kube-apiserver in front answers 503 for it',
  143: 'not yet by every replica',
  150: 'where the recorded answers are at hand',
}
