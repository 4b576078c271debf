import { OptionReader } from '../config/option-reader.js';
import { type Field, Layout } from '../layout/layout.js';
import { parseEpoch } from '../time/timeline.js';

/** The options that every preset takes. */
export interface PresetOptions {
  /**
   * Another epoch than the original's: an ISO string (UTC unless it names a zone), a Date or Unix ms. A later one makes
   * the layout last longer, and its IDs smaller than those issued so far: for new data only.
   */
  startTimeStamp?: string | Date | number;
}

/** What a preset is. */
interface PresetRule {
  readonly unitMs: number;
  /** The original's epoch, Unix ms. */
  readonly epochMs: number;
  /** The fields from the top, or how they follow from more options. */
  readonly fields: readonly Field[] | ((reader: OptionReader) => readonly Field[]);
  /** Why an epoch cannot be taken although it is a date; undefined when it can. */
  readonly epochProblem?: (epochMs: number) => string | undefined;
}

/**
 * Checks the options of a preset and makes its layout. An epoch in the future is not refused here, where there is no
 * clock: generating is, with `ClockBeforeEpochError`.
 * @throws ConfigurationError naming every option that is wrong
 */
export function presetLayout(options: PresetOptions, { unitMs, epochMs, fields, epochProblem }: PresetRule): Layout {
  const reader = new OptionReader(options);
  const given = reader.value('startTimeStamp');
  const start = given === undefined ? epochMs : parseEpoch(given);
  const problem =
    start === undefined ? `must be an ISO date such as '2024-01-01', a Date or Unix ms` : epochProblem?.(start);
  if (problem !== undefined) reader.problem('startTimeStamp', given, problem);
  const resolved = typeof fields === 'function' ? fields(reader) : fields;
  reader.finish();
  return new Layout({ fields: resolved, unitMs, epochMs: start! });
}

/** The ticks since the epoch. */
export function timestamp(bits: number): Field {
  return { name: 'timestamp', role: 'time', bits };
}

/** Part of the worker's number, under the name that it has in the other system. */
export function worker(bits: number, name = 'worker'): Field {
  return { name, role: 'worker', bits };
}

/** The counter inside a tick. */
export function sequence(bits: number): Field {
  return { name: 'sequence', role: 'sequence', bits };
}
