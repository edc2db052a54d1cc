/** Query parameters of lists and watches, with the checks of apimachinery's `ValidateListOptions`. */
import {
  type FieldSelector,
  type LabelSelector,
  parseFieldSelector,
  parseLabelSelector,
} from '../../src/api/selector.ts'
import { badRequest } from '../../src/kernel/errors.ts'
import {
  type FieldError,
  fieldErrorText,
  forbiddenField,
  invalidValue,
  notSupported,
} from '../../src/kernel/field-error.ts'
import { booleanOption, integerOption, integerProblem, refuse } from './options.ts'
import type { Asked } from './revision.ts'

export type Selectors = { readonly labels: LabelSelector; readonly fields: FieldSelector }

/** 0 for any revision, undefined for the newest. */
export type ListQuery = Asked & {
  readonly selectors: Selectors
  /** 0 for all. */
  readonly limit: number
  /** Empty on the first page. */
  readonly continue: string
  readonly match: 'Exact' | 'NotOlderThan' | ''
}

export type WatchQuery = Asked & {
  readonly selectors: Selectors
  /** Undefined when the client does not say. */
  readonly sendInitialEvents: boolean | undefined
  readonly bookmarks: boolean
  /** Undefined when the server is to choose. */
  readonly timeoutSeconds: number | undefined
}

/** Throws 400 for what cannot be read, 422 for what has no meaning. */
export function listQuery(query: URLSearchParams): ListQuery {
  const selectors = selectorsOf(query)
  const { limit } = numbersOf(query)
  const asked = askedRevision(query)
  const match = query.get('resourceVersionMatch') ?? ''
  const token = query.get('continue') ?? ''
  refuse('ListOptions', [
    ...(match === '' ? [] : listMatchErrors(match, asked.revisionText, token)),
    ...(query.has('sendInitialEvents')
      ? [forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list')]
      : []),
  ])
  return {
    selectors,
    limit,
    continue: token,
    ...asked,
    match: match === 'Exact' || match === 'NotOlderThan' ? match : '',
  }
}

const matchField = 'resourceVersionMatch'
const withContinue = forbiddenField(matchField, 'resourceVersionMatch is forbidden when continue is provided')

function listMatchErrors(match: string, revision: string, token: string): readonly FieldError[] {
  const errors: FieldError[] = []
  if (revision === '') {
    errors.push(
      forbiddenField(matchField, 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
    )
  }
  if (token !== '') errors.push(withContinue)
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    errors.push(notSupported(matchField, match, ['Exact', 'NotOlderThan', '']))
  }
  if (match === 'Exact' && revision === '0') {
    errors.push(
      forbiddenField(matchField, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
    )
  }
  return errors
}

/** Throws 400 for what cannot be read, 422 for what has no meaning. */
export function watchQuery(query: URLSearchParams): WatchQuery {
  const selectors = selectorsOf(query)
  const { timeoutSeconds } = numbersOf(query)
  const initial = query.get('sendInitialEvents')
  refuse('ListOptions', watchMatchErrors(query, initial !== null))
  return {
    selectors,
    ...askedRevision(query),
    sendInitialEvents: initial === null ? undefined : booleanOption(initial),
    bookmarks: booleanOption(query.get('allowWatchBookmarks')),
    timeoutSeconds,
  }
}

function watchMatchErrors(query: URLSearchParams, hasInitialEvents: boolean): readonly FieldError[] {
  const match = query.get('resourceVersionMatch') ?? ''
  const hasContinue = (query.get('continue') ?? '') !== ''
  const errors: FieldError[] = []
  if (hasInitialEvents && match !== 'NotOlderThan') {
    errors.push(
      forbiddenField(matchField, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    )
  }
  if (match === '') return hasContinue && !hasInitialEvents && isFromTheStart(query) ? [withContinue] : errors
  if (!hasInitialEvents) {
    errors.push(
      forbiddenField(
        matchField,
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    )
  }
  if (match !== 'NotOlderThan') errors.push(notSupported(matchField, match, ['NotOlderThan']))
  if (hasContinue) errors.push(withContinue)
  return errors
}

/** Such a watch begins with what is there, as if its client had asked for that with a `resourceVersionMatch`. */
function isFromTheStart(query: URLSearchParams): boolean {
  return /^0?$/.test(query.get('resourceVersion') ?? '')
}

/** Both are read whichever is asked for, as everything that is no number is refused. */
function numbersOf(query: URLSearchParams): Pick<ListQuery, 'limit'> & Pick<WatchQuery, 'timeoutSeconds'> {
  const limit = integerOption(query.get('limit')) ?? 0
  const timeoutSeconds = integerOption(query.get('timeoutSeconds')) ?? 0
  return { limit: Math.max(0, limit), timeoutSeconds: timeoutSeconds > 0 ? timeoutSeconds : undefined }
}

function selectorsOf(query: URLSearchParams): Selectors {
  return {
    labels: parseLabelSelector(query.get('labelSelector') ?? ''),
    fields: parseFieldSelector(query.get('fieldSelector') ?? ''),
  }
}

/** None for the empty text. Throws 400 when the text is no decimal number. */
export function askedRevision(query: URLSearchParams): Asked {
  const text = query.get('resourceVersion') ?? ''
  if (text === '') return { revision: undefined, revisionText: '' }
  const why = integerProblem('ParseUint', text)
  if (why === undefined) return { revision: Number(text), revisionText: text }
  throw badRequest(`invalid resource version: ${fieldErrorText(invalidValue('resourceVersion', text, why))}`)
}
