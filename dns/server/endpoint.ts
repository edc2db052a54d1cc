/** Where to listen. */
export type Endpoint = {
  /** An IP address. */
  readonly host: string
  /** 0 for one that is free. */
  readonly port: number
  /** Several workers on one port; the kernel spreads clients over them. */
  readonly shared: boolean
}
