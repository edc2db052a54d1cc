import { type FieldError, forbiddenField, invalidValue, tooLong } from '../../kernel/field-error.ts'
import { ageColumn, defineKind, type ObjectOf } from '../kind.ts'
import { configKeyErrors } from '../names.ts'
import { pointer } from '../protobuf-fields.ts'
import { s } from '../schema.ts'

/** All values together. */
const maxBytes = 1024 * 1024

export const ConfigMapKind = defineKind({
  group: '',
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  shortNames: ['cm'],
  scope: 'Namespaced',
  description: 'Settings for programs, by key.',
  servers: ['standalone'],
  strategicMergePatch: true,
  unconditionalUpdate: true,
  plainFinalizers: 'refused',
  generation: false,
  protobuf: { data: 2, binaryData: 3, immutable: pointer(4) },
  properties: {
    binaryData: s.optional(
      s.map(s.bytes(), { description: 'Values that are not text, in base64. No key may be in data too.' }),
    ),
    data: s.optional(s.map(s.string(), { description: 'Values that are text.' })),
    immutable: s.optional(
      s.boolean({ description: 'When true, nothing but metadata can be changed any more.' }),
    ),
  },
  sample: { data: { 'settings.yaml': 'colour: blue' }, binaryData: { logo: 'aGVsbG8=' } },
  columns: [
    {
      name: 'Data',
      type: 'integer',
      description: 'How many keys there are.',
      cell: c => Object.keys(c.data ?? {}).length + Object.keys(c.binaryData ?? {}).length,
    },
    ageColumn,
  ],
  validate: (map, old) => [...contentErrors(map), ...(old === undefined ? [] : changeErrors(map, old))],
})

export type ConfigMap = ObjectOf<typeof ConfigMapKind>

type Content = {
  readonly data?: Readonly<Record<string, string>>
  readonly binaryData?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}

function contentErrors({ data = {}, binaryData = {} }: Content): readonly FieldError[] {
  const errors: FieldError[] = []
  let bytes = 0
  for (const key of Object.keys(data)) {
    bytes += Buffer.byteLength(data[key] ?? '')
    addKeyErrors(errors, 'data', key)
    if (Object.hasOwn(binaryData, key))
      errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'))
  }
  for (const key of Object.keys(binaryData)) {
    bytes += Buffer.byteLength(binaryData[key] ?? '', 'base64')
    addKeyErrors(errors, 'binaryData', key)
  }
  if (bytes > maxBytes) errors.push(tooLong('', `may not be more than ${maxBytes} bytes`))
  return errors
}

function addKeyErrors(errors: FieldError[], field: string, key: string): void {
  for (const why of configKeyErrors(key)) errors.push(invalidValue(`${field}[${key}]`, key, why))
}

function changeErrors(map: Content, old: Content): readonly FieldError[] {
  if (old.immutable !== true) return []
  const why = 'field is immutable when `immutable` is set'
  return [
    ...(map.immutable === true ? [] : [forbiddenField('immutable', why)]),
    ...(sameEntries(map.data, old.data) ? [] : [forbiddenField('data', why)]),
    ...(sameEntries(map.binaryData, old.binaryData) ? [] : [forbiddenField('binaryData', why)]),
  ]
}

function sameEntries(
  a: Readonly<Record<string, string>> = {},
  b: Readonly<Record<string, string>> = {},
): boolean {
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length && keys.every(key => Object.hasOwn(b, key) && a[key] === b[key])
  )
}
