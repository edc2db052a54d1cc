/** The thread that reads long YAML. */
import { parentPort } from 'node:worker_threads'
import { StatusError } from '../kernel/errors.ts'
import { parseYaml } from './yaml.ts'
import type { YamlAnswer } from './yaml-thread.ts'

// Of a hundred thousand faults the parser makes an error each, and nobody looks where.
Error.stackTraceLimit = 0

parentPort?.on('message', (text: string) => parentPort?.postMessage(answerTo(text)))

function answerTo(text: string): YamlAnswer {
  try {
    const { value, duplicates } = parseYaml(text)
    return { json: JSON.stringify(value), duplicates }
  } catch (thrown) {
    if (!(thrown instanceof StatusError)) throw thrown
    return { refusal: { code: thrown.code, reason: thrown.reason, message: thrown.message } }
  }
}
