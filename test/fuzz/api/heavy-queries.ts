/** Selectors as long as a request line may be. */
import { configMaps, type Heavy } from './heavy.ts'

export const queries: readonly Heavy[] = [
  ...(['labelSelector', 'fieldSelector'] as const).flatMap(name => [
    {
      name: `${name}: many`,
      method: 'GET',
      path: `${configMaps}?${name}=${Array.from({ length: 1500 }, (_, i) => `a${i}=b`).join(',')}`,
      body: () => '',
    },
    {
      name: `${name}: one long`,
      method: 'GET',
      path: `${configMaps}?${name}=${'a'.repeat(12_000)}`,
      body: () => '',
    },
  ]),
  {
    name: 'labelSelector: a long set',
    method: 'GET',
    path: `${configMaps}?labelSelector=a in (${Array.from({ length: 1500 }, (_, i) => `b${i}`).join(',')})`.replaceAll(
      ' ',
      '%20',
    ),
    body: () => '',
  },
]
