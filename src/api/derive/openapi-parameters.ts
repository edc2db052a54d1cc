/** The parameters of operations, as both versions of OpenAPI documents describe them. */

export type Parameter = {
  readonly name: string
  readonly description: string
  readonly type: 'string' | 'integer' | 'boolean'
}

const parameter = (name: string, type: Parameter['type'], description: string): Parameter => ({
  name,
  type,
  description,
})

export const pretty = parameter('pretty', 'string', 'When true, the answer is indented.')
const dryRun = parameter('dryRun', 'string', 'All: nothing is stored, the answer is what it would be.')

export const writeParameters: readonly Parameter[] = [
  pretty,
  dryRun,
  parameter('fieldManager', 'string', 'Who writes, for managedFields: at most 128 printable characters.'),
  parameter(
    'fieldValidation',
    'string',
    'What becomes of unknown and repeated fields. Ignore: they are dropped. Warn, the default: they are dropped, with a warning for each. Strict: the request fails.',
  ),
]

export const forceParameter = parameter(
  'force',
  'boolean',
  'For apply patches: take over fields that others manage.',
)

export const listParameters: readonly Parameter[] = [
  pretty,
  parameter('allowWatchBookmarks', 'boolean', 'Whether a watch may send BOOKMARK events.'),
  parameter('continue', 'string', 'Where the last page ended.'),
  parameter('fieldSelector', 'string', 'Limits the answer to objects by their fields.'),
  parameter('labelSelector', 'string', 'Limits the answer to objects by their labels.'),
  parameter('limit', 'integer', 'At most so many objects in one page.'),
  parameter('resourceVersion', 'string', 'The state to show, or to start a watch from.'),
  parameter('resourceVersionMatch', 'string', 'NotOlderThan or Exact: how resourceVersion is meant.'),
  parameter('sendInitialEvents', 'boolean', 'Whether a watch begins with all objects as they are.'),
  parameter('timeoutSeconds', 'integer', 'Seconds after which the request ends.'),
  parameter('watch', 'boolean', 'Send changes as they happen, instead of a list.'),
]

/** Of lists that can only be watched with. */
export const ofWatches: ReadonlySet<string> = new Set(['allowWatchBookmarks', 'sendInitialEvents', 'watch'])

export const deleteParameters: readonly Parameter[] = [
  pretty,
  dryRun,
  parameter('gracePeriodSeconds', 'integer', 'Seconds that the object has to end by itself.'),
  parameter('orphanDependents', 'boolean', 'Older form of propagationPolicy.'),
  parameter('propagationPolicy', 'string', 'Orphan, Background or Foreground.'),
]

/** The parameters in a path, by name. */
export function pathParametersOf(path: string): readonly Parameter[] {
  return [
    ...(path.includes('{namespace}')
      ? [parameter('namespace', 'string', 'The namespace of the object.')]
      : []),
    ...(path.includes('{name}') ? [parameter('name', 'string', 'The name of the object.')] : []),
  ]
}
