import { expect } from 'vitest'
import { must } from './frame/must.ts'
import { aSuite, isStored } from './frame/suite.ts'

const suite = aSuite()

suite.every(isStored, subject => {
  must(27, 'answers a create 201 with uid, creationTimestamp, resourceVersion and generation', async () => {
    const place = await subject.place()
    const made = await place.create(place.sample())
    expect(made).toMatchObject({ code: 201, body: { kind: subject.kind.kind } })
    expect(made.body.metadata).toMatchObject({
      uid: expect.stringMatching(/^[-\da-f]{36}$/),
      creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      resourceVersion: expect.stringMatching(/^[1-9]\d*$/),
    })
    expect(made.body.metadata.generation).toBe(subject.kind.generation ? 1 : undefined)
  })
})
