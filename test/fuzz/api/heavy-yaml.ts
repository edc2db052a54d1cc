/** YAML that readers have come to grief over. */
import { base36, configMaps, type Fill, type Heavy, maxBytes, post, yaml } from './heavy.ts'

export const yamls: readonly Heavy[] = [
  ...(
    [
      ['plain scalars', (fill: Fill) => fill('data: [', () => 'a', ']')],
      [
        'a mapping',
        () => `data:\n${Array.from({ length: 250_000 }, (_, i) => ` k${base36(i)}: v`).join('\n')}`,
      ],
      ['one plain scalar', () => `a: ${'x '.repeat(maxBytes / 2 - 10)}`],
      ['one scalar on many lines', () => `a: ${'x\n '.repeat(maxBytes / 3 - 10)}`],
      ['a folded scalar', () => `a: >\n${' x\n\n'.repeat(maxBytes / 4 - 10)}`],
      ['a literal scalar', () => `a: |\n${' x\n'.repeat(maxBytes / 3 - 10)}`],
      ['a quoted scalar', () => `a: "${'\\x41'.repeat(maxBytes / 4 - 10)}"`],
      ['nested flow lists', () => '['.repeat(maxBytes)],
      ['nested flow maps', () => '{a: '.repeat(maxBytes / 4)],
      ['nested block lists', () => '- '.repeat(maxBytes / 2)],
      ['nested block maps', () => Array.from({ length: 2000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
      [
        'anchors',
        () =>
          Array.from({ length: 250_000 }, (_, i) => `- &a${i} x`)
            .join('\n')
            .slice(0, maxBytes),
      ],
      ['aliases', () => `a: &a x\nb: [${'*a , '.repeat(maxBytes / 5 - 10)}]`],
      [
        'aliases of aliases',
        () =>
          [
            'a: &a [x,x,x,x,x,x,x,x,x]',
            ...[...'bcdefghi'].map(
              (name, i) =>
                `${name}: &${name} [${Array.from({ length: 9 }, () => `*${'abcdefghi'[i]}`).join(',')}]`,
            ),
          ].join('\n'),
      ],
      [
        'merge keys',
        () =>
          `a: &a {b: c}\nd:\n${Array.from({ length: 200_000 }, () => ' - {<<: *a}').join('\n')}`.slice(
            0,
            maxBytes,
          ),
      ],
      [
        'merges of merges',
        () =>
          `${Array.from({ length: 300 }, (_, i) => `a${i}: &a${i} {${i === 0 ? '' : `<<: *a${i - 1}, `}k${i}: 1}`).join('\n')}`,
      ],
      ['comments', () => '#\n'.repeat(maxBytes / 2)],
      ['directives', () => '%A\n'.repeat(maxBytes / 3)],
      ['documents', () => '---\n'.repeat(maxBytes / 4)],
      ['tags', (fill: Fill) => fill('[', () => '!!str a', ']')],
      ['long integers', () => `a: ${'9'.repeat(maxBytes - 10)}`],
      ['dashes', () => '-'.repeat(maxBytes)],
      ['colons', () => ':'.repeat(maxBytes)],
      ['question marks', () => '? '.repeat(maxBytes / 2)],
      ['quotes', () => '"'.repeat(maxBytes)],
      ['tabs', () => '\t'.repeat(maxBytes)],
      ['empty lines', () => '\n'.repeat(maxBytes)],
      ['flow pairs', (fill: Fill) => fill('[', (i: number) => `a${base36(i)}: b`, ']')],
    ] as const
  ).flatMap(([name, body]) => [
    post(`YAML of 8 KiB: ${name}`, configMaps, fill => body(fill).slice(0, 8 * 1024), yaml),
    post(`YAML of 64 KiB: ${name}`, configMaps, fill => body(fill).slice(0, 64 * 1024), yaml),
  ]),
]
