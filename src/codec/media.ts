import { StatusError, unsupportedMediaType } from '../kernel/errors.ts'
import { type Parsed, parseJson } from './json.ts'
import { parseYaml } from './yaml.ts'

/** The media types of documents that are read, without parameters. */
export const documentMediaTypes: readonly string[] = ['application/json', 'application/yaml']

/** The type of a Content-Type header in lower case, without parameters. */
export function mediaTypeOf(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()
}

/**
 * Reads one document. Types that end in `json` are JSON, types that end in `yaml` are YAML, which JSON is a part of.
 * Throws BadRequest for a text that is neither, 415 for other types.
 */
export function decodeDocument(bytes: Buffer, contentType: string): Parsed {
  const mediaType = mediaTypeOf(contentType)
  if (mediaType === '' || /[/+]json$/.test(mediaType)) return parseJson(bytes)
  if (/[/+]yaml$/.test(mediaType)) return decodeYaml(bytes)
  throw unsupportedMediaType(documentMediaTypes)
}

/** kubectl sends JSON under a YAML type; the JSON parser is many times faster. */
function decodeYaml(bytes: Buffer): Parsed {
  const text = bytes.toString('utf8')
  if (/^\s*\{/.test(text)) {
    try {
      return parseJson(text)
    } catch (error) {
      // A flow mapping in YAML also begins with a brace.
      if (!(error instanceof StatusError)) throw error
    }
  }
  return parseYaml(text)
}
