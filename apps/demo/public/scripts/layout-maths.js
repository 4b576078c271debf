const MAX_DATE_MS = 8_640_000_000_000_000;
const YEAR_MS = 365 * 86_400_000;

/** How long a tick is, and how many timestamp bits make sense. */
export const TIME_UNITS = {
  millisecond: { ms: 1, min: 41, max: 55 },
  second: { ms: 1_000, min: 31, max: 55 },
  minute: { ms: 60_000, min: 25, max: 50 },
  hour: { ms: 3_600_000, min: 19, max: 45 },
  day: { ms: 86_400_000, min: 15, max: 40 },
};

/**
 * What layout options come to: the part of `POST /v1/layouts/plan` that changes with a slider, at once.
 * @returns a plan, or `{ problem }`
 */
export function planLayout({ timeUnit, startTimeStamp, timeStampLength, workIdLength, endBitsLength }, nowMs) {
  const epochMs = Date.parse(startTimeStamp);
  if (Number.isNaN(epochMs)) return { problem: 'Counted from: give a day such as 2026-01-01.' };
  if (epochMs > nowMs) return { problem: 'Counted from: the day lies in the future; no ID could be issued before it.' };
  const sequence = 63 - timeStampLength - workIdLength - 1 - endBitsLength;
  if (sequence < 1) {
    const sum = `63 − ${timeStampLength} − ${workIdLength} − 1 − ${endBitsLength} = ${String(sequence).replace('-', '−')}`;
    return { problem: `No bit is left for the sequence: ${sum}. Take fewer bits for the timestamp.` };
  }

  const { ms: unitMs } = TIME_UNITS[timeUnit];
  const fields = [
    { name: 'timestamp', role: 'time', bits: timeStampLength },
    { name: 'worker', role: 'worker', bits: workIdLength },
    { name: 'clockBack', role: 'clockBack', bits: 1 },
    { name: 'sequence', role: 'sequence', bits: sequence },
    { name: 'end', role: 'fixed', bits: endBitsLength },
  ].filter(({ bits }) => bits > 0);
  let shift = 63;
  for (const field of fields) field.shift = shift -= field.bits;

  const epochTick = Math.floor(epochMs / unitMs);
  const dateAfter = (ticks) => {
    const ms = (epochTick + ticks) * unitMs;
    return ms <= MAX_DATE_MS ? new Date(ms).toISOString() : null;
  };
  const ticks = 2 ** timeStampLength;
  return {
    fields,
    bits: 63,
    timeUnit,
    lifetimeYears: (ticks * unitMs) / YEAR_MS,
    expiresAt: dateAfter(ticks),
    safeUntil: dateAfter(Math.min(ticks, Math.floor(2 ** (timeStampLength - 10)))),
    idsPerTick: 2 ** sequence,
    idsPerSecond: (2 ** sequence * 1_000) / unitMs,
    workers: { min: 1, max: 2 ** workIdLength - 1, count: 2 ** workIdLength - 1 },
  };
}
