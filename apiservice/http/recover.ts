import { errorText } from '../../src/kernel/abort.ts'
import { internal, StatusError } from '../../src/kernel/errors.ts'
import type { LogFields, Logger } from '../../src/kernel/log.ts'
import type { ApiRequest } from '../contract.ts'

/**
 * Turns whatever was thrown into a Status. A fault of ours is logged here with its stack; the client learns only that
 * it happened.
 */
export function recovery(log: Logger) {
  return (thrown: unknown, { path }: ApiRequest, signal: AbortSignal): StatusError => {
    if (thrown instanceof StatusError && thrown.code !== 500) return thrown
    if (signal.aborted) return internal('the request was given up')
    if (thrown instanceof StatusError) {
      log.error('request failed', faultFields(path, thrown.cause ?? thrown))
      return thrown
    }
    log.error('request failed', faultFields(path, thrown))
    return internal('an unexpected fault was met; the server log has the details', thrown)
  }
}

function faultFields(path: string, thrown: unknown): LogFields {
  return { path, error: errorText(thrown), stack: thrown instanceof Error ? thrown.stack : undefined }
}
