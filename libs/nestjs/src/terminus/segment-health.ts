import type { SegmentServiceStatus } from '@raindrop/node';

/** What health says about a service of numbers from segments. */
export type SegmentHealthDetails = {
  readonly service: string;
  readonly state: string;
  /** How many codes are in use. */
  readonly codes: number;
  /** Numbers at hand of the code that has the fewest; null when none is in use. */
  readonly numbersLeft: number | null;
  readonly issued: number;
  /** The `errorCode` of the last reservation of some code; null when all succeeded. */
  readonly lastError: string | null;
};

/**
 * Down when a code that the options name is out of numbers and cannot get any; degraded while others are, or while numbers
 * are left and reservations fail.
 */
export function judgeSegments({ service, state, codes, startCodes, counters, lastError }: SegmentServiceStatus): {
  details: SegmentHealthDetails;
  refusal: string | undefined;
  concern: string | undefined;
} {
  const out = codes.find((each) => startCodes.includes(each.code) && each.left === 0 && each.lastError !== undefined);
  const numbersLeft = codes.length === 0 ? null : Math.min(...codes.map(({ left }) => left));
  const details = {
    ...{ service, state, codes: codes.length, numbersLeft, issued: counters.issued },
    lastError: lastError?.errorCode ?? null,
  };
  return {
    details,
    refusal: state === 'closed' ? 'CLOSED' : out?.lastError?.errorCode,
    concern: lastError && `reservations fail: ${lastError.errorCode}`,
  };
}
