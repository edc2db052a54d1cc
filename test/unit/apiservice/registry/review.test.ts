import { describe, expect, it } from 'vitest'
import { QuestionKind, WidgetKind } from '../../../support/kinds.ts'
import { anUpdate, aWidgetRegistry } from '../../../support/widgets.ts'

describe('reviews', () => {
  const questions = '/apis/test.example.com/v2/questions'
  const asked = { apiVersion: 'test.example.com/v2', kind: 'Question', spec: { text: 'why' } }

  it('are answered with 201 and are not stored', async () => {
    const registry = await aWidgetRegistry({
      kinds: [QuestionKind, WidgetKind],
      reviews: new Map([
        [
          'questions.test.example.com',
          async ({ object, user }) => ({ ...object, status: { answer: `${user.name}: because` } }),
        ],
      ]),
    })
    const { code, body } = await registry.send('POST', questions, { body: asked })
    const managedFields = [anUpdate({ 'f:spec': { '.': {}, 'f:text': {} } })]
    const answered = { ...asked, metadata: { managedFields }, status: { answer: 'admin: because' } }
    expect([code, body]).toEqual([201, answered])
    const withStatus = { ...asked, status: { answer: [null] } }
    expect((await registry.send('POST', questions, { body: withStatus })).body).toEqual(answered)
    expect((await registry.send('GET', questions)).body).toMatchObject({
      code: 405,
      message: 'the server does not allow this method on the requested resource',
    })
    expect((await registry.send('POST', questions, { body: { ...asked, spec: {} } })).body).toMatchObject({
      code: 422,
      message: 'Question.test.example.com "" is invalid: spec.text: Required value',
    })
  })

  it('do not hear what only the server says of objects', async () => {
    const registry = await aWidgetRegistry({
      kinds: [QuestionKind],
      reviews: new Map([['questions.test.example.com', async ({ object }) => object]]),
    })
    const metadata = {
      namespace: 'x',
      uid: 'x',
      creationTimestamp: '2020-01-01T00:00:00Z',
      deletionTimestamp: '2020-01-01T00:00:00Z',
      labels: { a: 'b' },
    }
    const { body } = await registry.send('POST', questions, { body: { ...asked, metadata } })
    expect(new Set(Object.keys(body.metadata))).toEqual(new Set(['labels', 'managedFields']))
  })

  it('must all have somebody who answers', async () => {
    await expect(aWidgetRegistry({ kinds: [QuestionKind] })).rejects.toThrow(
      'registry: nothing answers questions.test.example.com',
    )
  })
})
