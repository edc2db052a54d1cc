// docs/flags.md, from the settings of the commands.
import { type CommandDefinition, configSetting, flagName, variableName } from '../src/roles/command.ts'
import { commands } from '../src/roles/program.ts'
import type { Setting, Settings } from '../src/roles/setting.ts'
import { code, markdownTable } from './markdown.ts'

const intro = `# Commands and settings

<!-- Written by \`npm run gen\` from src/roles. -->

\`isthmus\` stands for \`node src/main.ts\`, run in the repository with the Node that npm has installed there ([operations.md](operations.md) says how). \`npm start -- FLAGS\` is \`isthmus fleet FLAGS\`. \`isthmus --help\` and \`isthmus COMMAND --help\` print what is written here.

A setting is taken from its flag, else from its environment variable, else from the config file, else from its default. An empty variable counts as none. A value that is not allowed ends the program with one sentence that names where it came from, and exit code 1; so does a key of the config file that is no setting of the command.

The config file is YAML: names and values. Lists may be written as lists.

\`\`\`yaml
# isthmus hub --config hub.yaml
home: /var/lib/isthmus
advertise: [hub.example.com:7443]
log-level: warn
\`\`\`

- TIME is a duration such as \`90s\`, \`5m\` or \`1h30m\`; the units are \`ms\`, \`s\`, \`m\`, \`h\` and \`d\`.
- CIDR is a block of addresses such as \`10.112.0.0/16\` or \`fd00:10:112::/112\`.
- ID is a cluster id: one or two DNS labels, such as \`east\` or \`east.prod\`.
- A setting with \`,…\` takes several values with commas between them.

Standard variables: \`HTTPS_PROXY\`, \`HTTP_PROXY\` and \`NO_PROXY\` hold for what members, \`dns\` and \`token create\` ask of API servers; servers on loopback addresses are never asked through a proxy.

Processes that run until they are stopped (\`fleet\`, \`hub\`, \`member\`, \`apiserver\`, \`dns\`) print one line that begins with \`ready\` on the standard output when they answer, and their log, one JSON object a line, on the standard error. SIGTERM and SIGINT end them in good order with exit code 0; a second signal ends them at once with exit code 130. What keeps a process from starting is one sentence on the standard error that begins with \`isthmus:\`, and exit code 1; operations.md [lists these sentences](operations.md#why-a-process-does-not-start).
`

export function flagsPage(): string {
  return [intro, ...Object.entries(commands).map(section)].join('\n')
}

function section([path, { description, settings }]: [string, CommandDefinition<Settings>]): string {
  const rows = [...Object.entries(settings), ['config', { ...configSetting, optional: true }] as const]
  const head = ['flag', 'variable', 'key in the config file', 'default', 'meaning']
  return `## isthmus ${path}\n\n${description}\n\n${markdownTable(head, rows.map(row))}`
}

type Shown = Pick<Setting<unknown>, 'placeholder' | 'description' | 'default' | 'optional'>

function row([key, setting]: readonly [string, Shown]): readonly string[] {
  const flag = flagName(key)
  return [
    code(`--${flag} ${setting.placeholder}`),
    code(variableName(key)),
    key === 'config' ? '' : code(flag),
    setting.default === undefined ? (setting.optional === true ? '' : '**needed**') : code(setting.default),
    setting.description,
  ]
}
