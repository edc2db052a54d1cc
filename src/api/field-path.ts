/** A place in an object: field names and list indices from the outside in. */
export type FieldPath = readonly (string | number)[]

/** `spec.items[0].name`; empty for the object itself. */
export function pathText(path: FieldPath, from = 0): string {
  let text = ''
  for (let i = from; i < path.length; i++) {
    const segment = path[i]
    if (typeof segment === 'number') text += `[${segment}]`
    else text += text === '' ? segment : `.${segment}`
  }
  return text
}
