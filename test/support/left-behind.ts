// Comes before every file of tests: its hook runs last, after whatever in that file should have stopped what it started.
import { afterAll } from 'vitest'
import { endLeftBehind } from './role-process.ts'

afterAll(endLeftBehind)
