// Which test holds each row of the notes on user reports (section 2) that is about exports, imports, slices and members.

type Proof = { readonly file: string; readonly title: string }

const content = (title: string): Proof => ({ file: 'test/cases/reports-content.test.ts', title })
const lifecycle = (title: string): Proof => ({ file: 'test/cases/reports-lifecycle.test.ts', title })
const pressure = (title: string): Proof => ({ file: 'test/cases/reports-pressure.test.ts', title })
const unit = (file: string, title: string): Proof => ({ file: `test/unit/src/${file}.test.ts`, title })

export const proofs: Readonly<Record<string, Proof>> = {
  B10: unit('import-flow', 'case 47, B10:'),
  B11: unit('hub-flow', 'B11:'),
  B13: lifecycle('B13:'),
  B14: unit('member-flow', 'B14, B25:'),
  B16: lifecycle('B16:'),
  B17: lifecycle('B17:'),
  B19: unit('member-flow', 'B19:'),
  B20: unit('import-flow', 'B20, B28:'),
  B23: lifecycle('B23:'),
  B25: unit('member-flow', 'B14, B25:'),
  B26: { file: 'test/flow/identity.test.ts', title: 'B26:' },
  B28: unit('import-flow', 'B20, B28:'),
  B29: lifecycle('B29: imports that go'),
  B31: content('B31:'),
  B32: content('B32:'),
  B34: unit('merge/merge', 'B34: another number'),
  B35: unit('merge/merge', 'B35: an unnamed port'),
  B37: { file: 'test/cases/order.test.ts', title: 'in any order' },
  B38: unit('endpoints/desired', 'B38:'),
  B40: pressure('B40:'),
  B41: { file: 'test/cases/rows/one.ts', title: '1: one export' },
  B43: content('B43:'),
  B44: content('B44:'),
  B46: unit('merge/merge', 'B46:'),
  B47: content('B47:'),
  B49: content('B49:'),
  B50: content('B50:'),
  B52: content('B52:'),
  B53: unit('endpoints/desired', 'B53:'),
  B55: {
    file: 'test/unit/dns/responder.test.ts',
    title: 'gives a slice to the service that its label names',
  },
  B58: content('B58:'),
  B59: pressure('B59:'),
  B61: content('B61, B62:'),
  B62: content('B61, B62:'),
  B64: unit('derive-flow', 'B64:'),
  B65: content('B65, B80:'),
  B67: content('B67:'),
  B68: content('B68:'),
  B70: lifecycle('B70:'),
  B76: { file: 'test/cases/rows/importers.ts', title: '46: an importer without the namespace' },
  B80: content('B65, B80:'),
  B82: unit('derive-flow', 'B82:'),
  B83: content('B83:'),
  B85: { file: 'test/flow/membership.test.ts', title: 'B85:' },
  B86: lifecycle('B86:'),
  B95: lifecycle('B95:'),
  B97: lifecycle('B97:'),
  B98: lifecycle('B98:'),
  B100: unit('heartbeat/observe', 'measures the skew of a clock by whole seconds'),
  B101: unit('hub-flow', 'B101:'),
  B104: { file: 'test/cases/reports-hub-away.test.ts', title: 'B104:' },
}

/** Rows that do not hold, and why. */
export const open: Readonly<Record<string, string>> = {}
