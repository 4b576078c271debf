import { TIME_UNITS } from '../time/time-unit.js';
import type { LayoutNeeds } from './layout-needs.js';
import type { LayoutOptions } from './layout-options.js';

/** A layout to be judged against the needs. */
export interface AdvisedShape {
  readonly name: 'default' | 'number' | 'fitted' | 'milliseconds';
  readonly options: LayoutOptions;
  /** Sentences on what speaks for it. */
  readonly reasons: readonly string[];
}

type Needs = Required<LayoutNeeds>;

/** Of the layouts that have a name. */
const USUAL_EPOCH = '2026-01-01';

const YEAR_MS = 366 * 86_400_000;
const MAX_WORKER_BITS = 10;

/** The shapes worth judging: those that the documents use, and two that are cut to the needs, by their unit. */
export function adviseShapes(needs: Needs, nowMs: number): readonly AdvisedShape[] {
  const usual = needs.numbers ? [numberShape(), defaultShape()] : [defaultShape()];
  return [...usual, ...fittedShape(needs, nowMs, 'second'), ...fittedShape(needs, nowMs, 'millisecond')];
}

function defaultShape(): AdvisedShape {
  const bits = { timeUnit: 'second', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 } as const;
  return {
    ...{ name: 'default', options: { startTimeStamp: USUAL_EPOCH, ...bits } },
    reasons: ['It is the default: forRoot() has it without any layout option.'],
  };
}

function numberShape(): AdvisedShape {
  const bits = { timeUnit: 'second', timeStampLength: 40, workIdLength: 8, endBitsLength: 1 } as const;
  return {
    ...{ name: 'number', options: { startTimeStamp: USUAL_EPOCH, ...bits } },
    reasons: ["It is layout: 'number', one line of options."],
  };
}

/** As few bits for time and workers as will do, all others for the sequence; none where they do not suffice. */
function fittedShape(needs: Needs, nowMs: number, timeUnit: 'second' | 'millisecond'): readonly AdvisedShape[] {
  const { ms, minTimestampBits, maxTimestampBits } = TIME_UNITS[timeUnit];
  // A year more: the epoch is the first day of this one.
  const timeBits = Math.ceil(Math.log2(((needs.years + 1) * YEAR_MS) / ms));
  // Above those of the time, an exact number leaves ten of 63 bits empty.
  const timeStampLength = Math.max(needs.numbers ? timeBits + 10 : timeBits, minTimestampBits);
  const workIdLength = workerBitsFor(needs.processes);
  const sequenceBits = 63 - timeStampLength - workIdLength - 2;
  if (timeStampLength > maxTimestampBits || sequenceBits < 1) return [];
  const options = { timeUnit, startTimeStamp: epochAt(nowMs), timeStampLength, workIdLength, endBitsLength: 1 };
  const room = `It has ${2 ** workIdLength - 1} workers, and the bits that are left count ${2 ** sequenceBits} IDs a ${timeUnit}.`;
  const order = 'IDs of several processes are in order to the millisecond, as well as clocks agree.';
  return [
    timeUnit === 'second'
      ? { name: 'fitted', options, reasons: [room] }
      : { name: 'milliseconds', options, reasons: [order, room] },
  ];
}

/** For twice as many workers, so that a rolling deploy finds free ones; for all of them where there are no more. */
function workerBitsFor(processes: number): number {
  return Math.min(MAX_WORKER_BITS, Math.max(3, Math.ceil(Math.log2(2 * processes + 1))));
}

/** The first day of the year. */
function epochAt(nowMs: number): string {
  return `${new Date(nowMs).getUTCFullYear()}-01-01`;
}
