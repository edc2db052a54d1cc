import { describe, expect, it } from 'vitest'
import { makeAdmission } from '../../../../apiservice/admission/stage.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../../../../apiservice/contract.ts'
import type { KubeObject } from '../../../../src/api/meta.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { badRequest } from '../../../../src/kernel/errors.ts'
import { anAdmission } from '../../../support/admission.ts'

const trail = (attributes: AdmissionAttributes): string => attributes.object?.metadata.labels?.trail ?? ''

function adding(letter: string): AdmissionPlugin {
  return {
    name: letter,
    handles: () => true,
    mutate: attributes =>
      Promise.resolve(
        attributes.object && {
          ...attributes.object,
          metadata: { ...attributes.object.metadata, labels: { trail: trail(attributes) + letter } },
        },
      ),
  }
}

describe('admission', () => {
  it('hands what one plugin made to the next, in their order', async () => {
    const seen: (KubeObject | undefined)[] = []
    const silent: AdmissionPlugin = { name: 'silent', handles: () => true, mutate: async () => undefined }
    const looking: AdmissionPlugin = {
      name: 'looking',
      handles: attributes => trail(attributes) === 'ab',
      mutate: async attributes => {
        seen.push(attributes.object)
        return attributes.object
      },
    }
    const admission = makeAdmission([adding('a'), silent, adding('b'), looking, adding('c')])
    expect((await admission.mutate(anAdmission(), never))?.metadata.labels).toEqual({ trail: 'abc' })
    expect(seen).toHaveLength(1)
  })

  it('asks only plugins that handle the request, and stops at the first that refuses', async () => {
    const asked: string[] = []
    const plugin = (name: string, handles: boolean, refuses: boolean): AdmissionPlugin => ({
      name,
      handles: () => handles,
      validate: () => {
        asked.push(name)
        return refuses ? Promise.reject(badRequest(name)) : Promise.resolve()
      },
    })
    const admission = makeAdmission([
      plugin('one', true, false),
      plugin('two', false, true),
      plugin('three', true, true),
      plugin('four', true, true),
    ])
    await expect(admission.validate(anAdmission(), never)).rejects.toThrow('three')
    expect(asked).toEqual(['one', 'three'])
  })

  it('lets everything pass without plugins', async () => {
    const attributes = anAdmission()
    const admission = makeAdmission([])
    expect(await admission.mutate(attributes, never)).toBe(attributes.object)
    expect(await admission.validate(attributes, never)).toBeUndefined()
  })
})
