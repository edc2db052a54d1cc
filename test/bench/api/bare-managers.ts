/** One entry of managedFields. */
export type Manager = {
  readonly operation: string
  readonly subresource?: string
  readonly [field: string]: unknown
}

/** What an API server writes for the objects of the load, so that the bare one sends as many bytes. */
export const managers = {
  create: entryOf({
    'f:metadata': {
      'f:annotations': { '.': {}, 'f:bench/n': {} },
      'f:labels': { '.': {}, 'f:app': {} },
    },
    'f:spec': { '.': {}, 'f:ips': {}, 'f:ports': {}, 'f:type': {} },
  }),
  status: {
    ...entryOf({
      'f:status': {
        '.': {},
        'f:clusters': { '.': {}, 'k:{"cluster":"c-00000000"}': { '.': {}, 'f:cluster': {} } },
      },
    }),
    subresource: 'status',
  },
} satisfies Record<string, Manager>

function entryOf(fieldsV1: Readonly<Record<string, unknown>>): Manager {
  return {
    manager: 'bench',
    operation: 'Update',
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    time: '2026-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1,
  }
}
