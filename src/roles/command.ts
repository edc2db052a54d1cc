import { readFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { parseYaml } from '../codec/yaml.ts'
import { errorText } from '../kernel/abort.ts'
import type { Setting, Settings, Values } from './setting.ts'

/** What is wrong with how the program was called: one sentence for the person who called it. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export type Environment = Readonly<Record<string, string | undefined>>

export type CommandDefinition<S extends Settings> = {
  readonly name: string
  readonly description: string
  readonly settings: S
  /**
   * `reread` answers what the settings are by now: the config file may have changed. It throws as the start would. `flags`
   * are the keys of those that were given as flags.
   */
  run(values: Values<S>, reread: () => Values<S>, flags: ReadonlySet<string>): Promise<void>
}

/** Every command has it besides its own settings. */
export const configSetting = {
  placeholder: 'FILE',
  description: 'YAML file with any of these settings, by their names.',
} as const

/** A command whose settings come from flags, the environment and a config file. */
export function defineCommand<S extends Settings>(
  definition: CommandDefinition<S>,
  environment: Environment,
): Command {
  const command = new Command(definition.name).description(definition.description).allowExcessArguments(false)
  for (const [key, setting] of Object.entries(definition.settings)) command.addOption(optionOf(key, setting))
  const { placeholder, description } = configSetting
  command.addOption(new Option(`--config <${placeholder}>`, description).env(variableName('config')))
  command.addHelpText(
    'after',
    '\nA setting is taken from its flag, else from its environment variable, else from the config file.',
  )
  return command.action(async (given: Readonly<Record<string, string | undefined>>) => {
    const { settings } = definition
    const read = (): Values<S> => {
      const file = configFile(given.config ?? environment.ISTHMUS_CONFIG, settings)
      return readSettings(settings, { given, environment, file })
    }
    await definition.run(read(), read, new Set(Object.keys(given)))
  })
}

function optionOf(key: string, setting: Setting<unknown>): Option {
  const notes = [
    `env: ${variableName(key)}`,
    ...(setting.default === undefined ? [] : [`default: ${setting.default}`]),
  ]
  return new Option(
    `--${flagName(key)} <${setting.placeholder}>`,
    `${setting.description} (${notes.join(', ')})`,
  )
}

type Sources = {
  readonly given: Readonly<Record<string, string | undefined>>
  readonly environment: Environment
  readonly file: ConfigFile
}

type ConfigFile = { readonly path: string; readonly values: ReadonlyMap<string, string> }

function readSettings<S extends Settings>(settings: S, sources: Sources): Values<S> {
  const entries = Object.entries(settings).map(([key, setting]) => [key, readSetting(key, setting, sources)])
  // Each key of the settings is there, with what its own parse answered.
  return Object.fromEntries(entries) as Values<S>
}

function readSetting(key: string, setting: Setting<unknown>, { given, environment, file }: Sources): unknown {
  const flag = flagName(key)
  const candidates = [
    { where: `--${flag}`, text: given[key] },
    { where: variableName(key), text: environment[variableName(key)] || undefined },
    { where: `${file.path}: ${flag}`, text: file.values.get(flag) },
    { where: `--${flag}`, text: setting.default },
  ]
  const found = candidates.find(({ text }) => text !== undefined)
  if (found?.text === undefined) {
    if (setting.optional === true) return undefined
    throw new UsageError(`--${flag} <${setting.placeholder}> is needed: ${setting.description}`)
  }
  try {
    return setting.parse(found.text)
  } catch (thrown) {
    throw new UsageError(`${found.where} ${errorText(thrown)}, not "${found.text}"`)
  }
}

function configFile(path: string | undefined, settings: Settings): ConfigFile {
  if (path === undefined) return { path: '', values: new Map() }
  let document: unknown
  try {
    document = parseYaml(readFileSync(path, 'utf8')).value ?? {}
  } catch (thrown) {
    throw new UsageError(`the config file ${path} cannot be read: ${errorText(thrown)}`)
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new UsageError(`the config file ${path} must hold names and values`)
  }
  const known = new Set(Object.keys(settings).map(flagName))
  const values = new Map<string, string>()
  for (const [name, value] of Object.entries(document)) {
    if (!known.has(name)) throw new UsageError(`${path}: ${name} is no setting of this command`)
    values.set(name, plainText(`${path}: ${name}`, value))
  }
  return { path, values }
}

function plainText(where: string, value: unknown): string {
  if (Array.isArray(value)) return value.map(item => plainText(where, item)).join(',')
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value)
  throw new UsageError(`${where} must be a text, a number or a list of them`)
}

/** `clusterId` → `cluster-id`. */
export function flagName(key: string): string {
  return key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
}

/** `clusterId` → `ISTHMUS_CLUSTER_ID`. */
export function variableName(key: string): string {
  return `ISTHMUS_${flagName(key).replaceAll('-', '_').toUpperCase()}`
}
