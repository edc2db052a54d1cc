// docs/conventions.md, from the lines of the contract and the tests that name them.
import { type Section, sections } from '../test/conventions/contract.ts'
import { deferred, type Proof, remarks } from '../test/conventions/elsewhere.ts'
import { allProofs } from '../test/conventions/proofs.ts'
import { defects } from '../test/defects/defects.ts'
import { root } from './kinds-index.ts'
import { code, markdownTable } from './markdown.ts'

export const conventionsPageFile = 'docs/conventions.md'

const intro = `# API conventions

<!-- Written by \`npm run gen\` from test/conventions. -->

What clients of kube-apiserver rely on, line by line, and the test that proves it of this server. The tests of [test/conventions](../test/conventions) run for every kind that a hub or a member serves, and for kinds that they add themselves; the title of a test begins with the numbers of the lines that it proves, so \`npm test -- test/conventions -t '37 '\` runs those of line 37.

The last column has faults that were tried: \`npm run defects\` puts each of them into a copy of the sources ([test/defects](../test/defects)) and demands that a test of its line fails.
`

/** Throws when a line has neither a proof nor a reason. */
export function conventionsPage(): string {
  const proofs = allProofs(root)
  return [intro, ...sections.map(section => sectionOf(section, proofs))].join('\n')
}

function sectionOf({ title, lines }: Section, proofs: ReadonlyMap<number, readonly Proof[]>): string {
  const rows = Object.entries(lines).map(([number, text]) => {
    const line = Number(number)
    return [
      number,
      text,
      [...(proofs.get(line) ?? []).map(proofText), ...openText(line)].join('<br>'),
      defects
        .filter(defect => defect.line === line)
        .map(({ what }) => what)
        .join('<br>'),
    ]
  })
  return `## ${title}\n\n${markdownTable(['line', 'what holds', 'proved by', 'fault that is found'], rows)}`
}

function proofText({ file, title }: Proof): string {
  return `${code(file)}: ${title}`
}

function openText(line: number): readonly string[] {
  const why = deferred[line]
  const remark = remarks[line]
  return [
    ...(why === undefined ? [] : [`**not proved yet:** ${why}`]),
    ...(remark === undefined ? [] : [`**${remark}**`]),
  ]
}
