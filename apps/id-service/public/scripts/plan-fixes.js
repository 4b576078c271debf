import { bits } from './words.js';

/** The least and the most timestamp bits of seconds, which nearly everybody wants. */
const SECONDS = { timeUnit: 'second', timeStampLength: 33 };

/**
 * What cures a warning of the service, as options and as the words of a button; undefined where only a person can decide.
 * @param code of the warning, or `NO_SEQUENCE` for bits that leave none
 */
export function fixOf(code, plan, options) {
  const { workIdLength, endBitsLength, timeStampLength, expectedNodes = 1, expectedIdsPerSecond = 1 } = options;
  const left = 63 - workIdLength - 1 - endBitsLength;
  const fixes = {
    NO_END_BITS: () => ({ label: 'reserve 1 end bit', options: { endBitsLength: 1 } }),
    LEAP_SECONDS: () => ({ label: 'count seconds', options: SECONDS }),
    COARSE_UNIT: () => ({ label: 'count seconds', options: SECONDS }),
    OLD_EPOCH: () => {
      const startTimeStamp = `${new Date().getUTCFullYear()}-01-01`;
      return { label: `count from ${startTimeStamp}`, options: { startTimeStamp } };
    },
    FEW_WORKERS: () => {
      const needed = Math.ceil(Math.log2(2 * expectedNodes + 1));
      if (needed > 10) return undefined;
      const wider = { workIdLength: Math.max(3, needed), serviceMinWorkId: '', serviceMaxWorkId: '' };
      return { label: `take ${bits(wider.workIdLength)} for workers`, options: wider };
    },
    CAPACITY: () => {
      const sequence = Math.ceil(Math.log2((expectedIdsPerSecond * plan.unitMs) / 1_000));
      return shorter(left - sequence);
    },
    EXPIRES_SOON: () => ({ label: 'one more timestamp bit', options: { timeStampLength: timeStampLength + 1 } }),
    NO_SEQUENCE: () => shorter(left - 12),
  };
  return fixes[code]?.();
}

/** Fewer bits for the time, if that leaves as many as any unit needs. */
function shorter(timeStampLength) {
  if (timeStampLength < 31) return undefined;
  return { label: `take ${bits(timeStampLength)} for the timestamp`, options: { timeStampLength } };
}
