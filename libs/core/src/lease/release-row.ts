import type { Lane, PerLane } from '../generator/position.js';
import type { Attempt, HeldRow } from './held-row.js';
import { writeOf, type LeaseContext } from './lease-context.js';
import type { Odometer } from './worker-store.js';

/** What a row is to say when it has been given back. */
export interface Leaving {
  readonly lane: Lane;
  /** Asked for after every doubt is resolved. */
  readonly odometers: () => PerLane<Odometer>;
  readonly layout?: string;
  /** Told of a write in doubt that turned out to have been executed. */
  readonly onExecuted?: (attempt: Attempt) => void;
}

/**
 * Gives a row back, with the odometers at what was really issued. The caller has stopped issuing before, for good:
 * a release may be executed whatever is answered.
 *
 * @returns false when the row could not be given back; it comes free when its lease ends
 */
export async function releaseRow(ctx: LeaseContext, held: HeldRow, leaving: Leaving): Promise<boolean> {
  for (const tries of [1, 2]) {
    try {
      if (held.inDoubt || tries > 1) {
        const { row } = await ctx.session.run('re-reading a worker', (store) => store.readRow(held.id));
        const verdict = held.judge(row);
        // Free, and next in line after us: it was our own statement, whose answer was lost.
        if (row?.token === '' && row.version === held.version + 1) return true;
        if (verdict.kind === 'lost') return false;
        if (verdict.kind === 'executed') {
          held.advance(verdict.attempt);
          leaving.onExecuted?.(verdict.attempt);
        }
        if (verdict.kind === 'regressed') held.rewind(verdict.row);
      }
      const expected = { version: held.version, token: held.token };
      const { lane, layout } = leaving;
      const write = writeOf(ctx, {
        id: held.id,
        expected,
        token: '',
        lane,
        odometers: leaving.odometers(),
        ...(layout === undefined ? {} : { layout }),
      });
      if (await ctx.session.run('releasing a worker', (store) => store.write(write))) return true;
    } catch {
      // Tried once more; after that the row comes free by itself.
    }
  }
  return false;
}
