const MAX_DATE_MS = 8_640_000_000_000_000;

/** The number in one field of an ID. */
export function fieldValue({ bits, shift }, id) {
  return Number((id >> BigInt(shift)) & ((1n << BigInt(bits)) - 1n));
}

/**
 * Takes an ID apart by a plan, as `GET /v1/ids/:id` does.
 * @param {bigint} id
 * @returns the parts as numbers; `time`, the start of its tick, is null beyond the year 275760
 */
export function idParts(plan, id) {
  const values = { time: 0, worker: 0, clockBack: 0, sequence: 0, fixed: 0 };
  // Fields of one role are one number, the first one highest.
  for (const field of plan.fields) {
    values[field.role] = values[field.role] * 2 ** field.bits + fieldValue(field, id);
  }
  // An epoch in the middle of a tick counts from the start of that tick.
  const ms = (Math.floor(Date.parse(plan.epoch) / plan.unitMs) + values.time) * plan.unitMs;
  return {
    time: ms <= MAX_DATE_MS ? new Date(ms) : null,
    tick: values.time,
    workerId: values.worker,
    clockBack: values.clockBack,
    sequence: values.sequence,
    endBits: values.fixed,
  };
}
