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
 * @returns a plan, or `{ problem, option }`: a sentence, and what it is about
 */
export function planLayout(options, nowMs) {
  const { timeUnit, startTimeStamp, timeStampLength, workIdLength, endBitsLength, endBitsValue = 0 } = options;
  const maxWorkerId = 2 ** workIdLength - 1;
  const { serviceMinWorkId: min = 1, serviceMaxWorkId: max = maxWorkerId } = options;
  const wrong = problemOf({ ...options, endBitsValue, min, max, maxWorkerId }, nowMs);
  if (wrong !== undefined) return wrong;

  const { ms: unitMs } = TIME_UNITS[timeUnit];
  const sequence = sequenceBits(options);
  const fields = [
    { name: 'timestamp', role: 'time', bits: timeStampLength },
    { name: 'worker', role: 'worker', bits: workIdLength },
    { name: 'clockBack', role: 'clockBack', bits: 1 },
    { name: 'sequence', role: 'sequence', bits: sequence },
    { name: 'end', role: 'fixed', bits: endBitsLength, value: endBitsValue },
  ].filter(({ bits }) => bits > 0);
  let shift = 63;
  for (const field of fields) field.shift = shift -= field.bits;

  const epochTick = Math.floor(Date.parse(startTimeStamp) / unitMs);
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
    workers: { min, max, count: max - min + 1 },
  };
}

function sequenceBits({ timeStampLength, workIdLength, endBitsLength }) {
  return 63 - timeStampLength - workIdLength - 1 - endBitsLength;
}

function problemOf(options, nowMs) {
  const { startTimeStamp, timeStampLength, workIdLength, endBitsLength, endBitsValue, min, max, maxWorkerId } = options;
  const epochMs = Date.parse(startTimeStamp);
  if (Number.isNaN(epochMs)) {
    return { option: 'startTimeStamp', problem: 'Counted from: give a day such as 2026-01-01.' };
  }
  if (epochMs > nowMs) {
    const problem = 'Counted from: the day lies in the future; no ID could be issued before it.';
    return { option: 'startTimeStamp', problem };
  }
  for (const [option, name, id] of [
    ['serviceMinWorkId', 'First worker id', min],
    ['serviceMaxWorkId', 'Last worker id', max],
  ]) {
    if (isWithin(id, maxWorkerId)) continue;
    const problem = `${name}: give a whole number from 0 to ${maxWorkerId}, which ${workIdLength} worker bits hold.`;
    return { option, problem };
  }
  if (min > max) {
    return { option: 'serviceMinWorkId', problem: `First worker id: it must not be greater than the last, ${max}.` };
  }
  const mostEnd = 2 ** endBitsLength - 1;
  if (!isWithin(endBitsValue, mostEnd)) {
    return { option: 'endBitsValue', problem: `End bits hold: give a whole number from 0 to ${mostEnd}.` };
  }
  const sequence = sequenceBits(options);
  if (sequence >= 1) return undefined;
  const sum = `63 − ${timeStampLength} − ${workIdLength} − 1 − ${endBitsLength} = ${String(sequence).replace('-', '−')}`;
  const problem = `No bit is left for the sequence: ${sum}. Take fewer bits for the timestamp.`;
  return { option: 'timeStampLength', problem };
}

function isWithin(number, most) {
  return Number.isInteger(number) && number >= 0 && number <= most;
}
