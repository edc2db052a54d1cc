import type { AnyKind } from '../kind.ts'
import { ServiceExportKind } from './service-export.ts'

export const kinds: readonly AnyKind[] = [ServiceExportKind]
