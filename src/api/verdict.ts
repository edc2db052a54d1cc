/** What the conditions of a kind say: their reasons by type and status. */
export type ConditionReasons = Readonly<
  Record<string, Readonly<Partial<Record<'True' | 'False' | 'Unknown', readonly string[]>>>>
>

/** What is said of one condition, in no other words than those that its kind declares. */
export type Verdict<R extends ConditionReasons, T extends keyof R> = {
  readonly [S in keyof R[T]]: {
    readonly status: S
    readonly reason: R[T][S] extends readonly (infer W)[] ? W : never
    readonly message: string
  }
}[keyof R[T]]
