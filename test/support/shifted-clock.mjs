// Loaded before the program: its clock is ahead by CLOCK_SHIFT_MS. What the machine and TLS take for the time stays.
const aheadMs = Number(process.env.CLOCK_SHIFT_MS)
const MachineDate = Date

globalThis.Date = class extends MachineDate {
  constructor(...given) {
    if (given.length === 0) super(MachineDate.now() + aheadMs)
    else super(...given)
  }

  static now() {
    return MachineDate.now() + aheadMs
  }
}
