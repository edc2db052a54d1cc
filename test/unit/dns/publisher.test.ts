import { describe, expect, it } from 'vitest'
import type { ServiceFacts, ServiceSource, ZoneChange } from '../../../dns/contract.ts'
import { instrumentsOf } from '../../../dns/instruments.ts'
import { Publisher } from '../../../dns/publisher.ts'
import { serviceFacts } from '../../../dns/source/facts.ts'
import { memoryLogger } from '../../../src/kernel/log.ts'
import { noMetrics } from '../../../src/kernel/metrics.ts'
import { aClusterSetIp } from '../../support/dns-objects.ts'
import { settings } from '../../support/dns-zone.ts'
import { manualClock, settled } from '../../support/manual-clock.ts'

function factsOf(key: string, ip = '10.0.0.1'): ServiceFacts {
  return serviceFacts(aClusterSetIp(key, [ip], []), [])
}

function sourceOf(facts: Map<string, ServiceFacts>): ServiceSource {
  return {
    synced: Promise.resolve(),
    keys: () => facts.keys(),
    facts: key => facts.get(key),
    onChange: () => undefined,
  }
}

function publishing() {
  const clock = manualClock()
  const log = memoryLogger()
  const controller = new AbortController()
  const changes: { readonly change: ZoneChange; readonly done: () => void }[] = []
  let loads = 0
  let holding = false
  const publisher = new Publisher(
    {
      settings,
      clock,
      elapsedMs: clock.now,
      log,
      instruments: instrumentsOf(noMetrics),
      apply: change =>
        new Promise(resolve => {
          changes.push({ change, done: resolve })
          if (!holding) resolve()
        }),
      onPublished: () => undefined,
      onProblem: () => undefined,
      loaded: () => {
        loads++
      },
    },
    controller.signal,
  )
  return {
    publisher,
    clock,
    log,
    controller,
    /** What went out since the last look: `+` for services put, `-` for services removed. */
    sent: (): readonly string[] =>
      changes
        .splice(0)
        .map(({ change: { put, removed } }) =>
          [...put.map(service => `+${service.key}`), ...removed.map(key => `-${key}`)].join(' '),
        ),
    changes,
    loads: () => loads,
    hold: (value: boolean) => {
      holding = value
    },
  }
}

describe('the publisher', () => {
  it('sends what a source knows, then says that it is loaded', async () => {
    const { publisher, sent, loads } = publishing()
    publisher.use(sourceOf(new Map([['prod/a', factsOf('prod/a')]])))
    await settled()
    expect(sent()).toEqual(['+prod/a'])
    expect(loads()).toBe(1)
  })

  it('is loaded by a source that knows nothing', async () => {
    const { publisher, sent, loads } = publishing()
    publisher.use(sourceOf(new Map()))
    await publisher.settled()
    expect(sent()).toEqual([])
    expect(loads()).toBe(1)
  })

  it('gathers changes for two milliseconds and compiles nothing else', async () => {
    const { publisher, sent, clock } = publishing()
    const facts = new Map(['a', 'b', 'c'].map(name => [`prod/${name}`, factsOf(`prod/${name}`)]))
    publisher.use(sourceOf(facts))
    await settled()
    sent()
    publisher.touch('prod/a')
    facts.delete('prod/b')
    publisher.touch('prod/b')
    publisher.touch('prod/a')
    await clock.advance(1)
    expect(sent()).toEqual([])
    await clock.advance(1)
    expect(sent()).toEqual(['+prod/a -prod/b'])
  })

  it('gathers what changes while the workers are behind', async () => {
    const { publisher, sent, changes, clock, hold } = publishing()
    const facts = new Map([['prod/a', factsOf('prod/a')]])
    publisher.use(sourceOf(facts))
    await settled()
    sent()
    hold(true)
    publisher.touch('prod/a')
    await clock.advance(2)
    for (let i = 0; i < 50; i++) publisher.touch('prod/a')
    await clock.advance(50)
    expect(changes).toHaveLength(1)
    hold(false)
    changes[0]?.done()
    await publisher.settled()
    expect(sent()).toEqual(['+prod/a', '+prod/a'])
  })

  it('takes out what the next source does not know', async () => {
    const { publisher, sent, loads } = publishing()
    publisher.use(
      sourceOf(new Map(['a', 'b'].map(name => [`prod/${name}`, factsOf(`prod/${name}`)]))),
      2_000_000_000,
    )
    await settled()
    sent()
    publisher.use(sourceOf(new Map(['b', 'c'].map(name => [`prod/${name}`, factsOf(`prod/${name}`)]))))
    await settled()
    expect(sent()).toEqual(['+prod/b +prod/c -prod/a'])
    expect(loads()).toBe(2)
    // The clock is behind the serial that was kept.
    expect(publisher.serial).toBe(2_000_000_000)
  })

  it('sends many services in several changes', async () => {
    const { publisher, changes, loads } = publishing()
    const keys = Array.from({ length: 300 }, (_, i) => `prod/s${i}`)
    publisher.use(sourceOf(new Map(keys.map(key => [key, factsOf(key)]))))
    await settled()
    await publisher.settled()
    expect(changes.map(({ change }) => change.put.length)).toEqual([128, 128, 44])
    expect(loads()).toBe(1)
  })

  it('goes on with the others when one cannot be compiled, and keeps what was served of it', async () => {
    const { publisher, sent, log } = publishing()
    const source = sourceOf(new Map(['a', 'b'].map(name => [`prod/${name}`, factsOf(`prod/${name}`)])))
    publisher.use({
      ...source,
      facts: key => {
        if (key === 'prod/a') throw new Error('broken')
        return source.facts(key)
      },
    })
    await settled()
    expect(sent()).toEqual(['+prod/b'])
    expect(log.lines).toMatchObject([
      {
        level: 'error',
        message: 'service cannot be compiled',
        fields: { service: 'prod/a', error: 'broken' },
      },
    ])
  })

  it('names a problem once, and again when it comes back', async () => {
    const { publisher, log, clock } = publishing()
    const facts = new Map([['prod/a', factsOf('prod/a', 'nonsense')]])
    publisher.use(sourceOf(facts))
    await settled()
    const touch = async (ip: string): Promise<number> => {
      facts.set('prod/a', factsOf('prod/a', ip))
      publisher.touch('prod/a')
      await clock.advance(2)
      return log.lines.length
    }
    expect(log.lines).toMatchObject([
      { level: 'warn', fields: { service: 'prod/a', reason: 'address', subject: 'nonsense' } },
    ])
    expect(await touch('nonsense')).toBe(1)
    expect(await touch('10.0.0.1')).toBe(1)
    expect(await touch('nonsense')).toBe(2)
  })

  it('sends nothing more once it is stopped', async () => {
    const { publisher, sent, clock, controller, log } = publishing()
    publisher.use(sourceOf(new Map([['prod/a', factsOf('prod/a')]])))
    await settled()
    sent()
    publisher.touch('prod/a')
    controller.abort()
    await clock.advance(10)
    publisher.touch('prod/a')
    publisher.republish()
    await clock.advance(10)
    await publisher.settled()
    expect(sent()).toEqual([])
    expect(log.lines).toEqual([])
  })
})
