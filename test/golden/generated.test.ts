import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { generatedFiles } from '../../hack/generated.ts'
import { kindsIndex, kindsIndexFile, root } from '../../hack/kinds-index.ts'

const files = Object.entries({ ...generatedFiles(), [kindsIndexFile]: kindsIndex() })

it.each(files)('%s is what npm run gen writes', (file, text) => {
  expect(readFileSync(join(root, file), 'utf8')).toBe(text)
})
