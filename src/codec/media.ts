import { isReason, tooLarge, unsupportedMediaType } from '../kernel/errors.ts'
import { maxPatchWeight, type Parsed, parseJson } from './json.ts'
import { maxYamlBytes, parseYaml } from './yaml.ts'
import { parseLongYaml } from './yaml-thread.ts'

export const jsonPatchMediaType = 'application/json-patch+json'

/** The media types of documents that are read, without parameters. */
export const documentMediaTypes: readonly string[] = ['application/json', 'application/yaml']

/** The type of a Content-Type header in lower case, without parameters. */
export function mediaTypeOf(contentType: string): string {
  // Most say nothing but that.
  if (/^[a-z/+.-]*$/.test(contentType)) return contentType
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()
}

/** Longer YAML is not read here: it takes a millisecond for each kilobyte, and more when it is made to. */
const maxInlineYamlBytes = 8 * 1024

/**
 * Reads one document. Types that end in `json` are JSON, types that end in `yaml` are YAML, which JSON is a part of.
 * Throws BadRequest for a text that is neither, 415 for other types. Only YAML may have to be waited for.
 */
export function decodeDocument(bytes: Buffer, contentType: string): Parsed | Promise<Parsed> {
  const mediaType = mediaTypeOf(contentType)
  if (mediaType === jsonPatchMediaType) return parseJson(bytes, maxPatchWeight)
  if (mediaType === '' || isOf(mediaType, 'json')) return parseJson(bytes)
  if (isOf(mediaType, 'yaml')) return decodeYaml(bytes)
  throw unsupportedMediaType(documentMediaTypes)
}

function isOf(mediaType: string, format: string): boolean {
  return mediaType.endsWith(`/${format}`) || mediaType.endsWith(`+${format}`)
}

/** kubectl sends JSON under a YAML type; the JSON parser is many times faster. */
async function decodeYaml(bytes: Buffer): Promise<Parsed> {
  const text = bytes.toString('utf8')
  if (/^\s*\{/.test(text)) {
    try {
      return parseJson(text)
    } catch (error) {
      // A flow mapping in YAML also begins with a brace.
      if (!isReason(error, 'BadRequest')) throw error
    }
  }
  if (bytes.length > maxYamlBytes) throw tooLarge(maxYamlBytes)
  return bytes.length > maxInlineYamlBytes ? parseLongYaml(text) : parseYaml(text)
}
