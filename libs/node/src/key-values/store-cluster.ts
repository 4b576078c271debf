import { unusedRow, type WorkerRange } from '@raindrop/core';
import { floorOf, isUnseenLoss, mustNote, type StoreTerm } from '@raindrop/core/internal';
import { TableFormatError } from '../tables/state-table.js';
import type { KeyValues, Seen } from './key-values.js';
import { update } from './update.js';
import type { WorkerKeys } from './worker-keys.js';
import { FORMAT, NO_FENCES, recordOf, rowOfRecord, stateOf, fencesOf } from './worker-record.js';

/** One look notes what is new; a cluster that is another one each time is of no use. */
const MOST_LOOKS = 3;

/**
 * Which cluster keeps a table of workers. One that was restored from a snapshot has another name, or a revision that
 * went back, and may lack what was granted since.
 */
export class StoreCluster {
  /** Of the last answer that was believed; undefined before the first. */
  private last: { readonly cluster: string; readonly revision: number } | undefined;
  /** Undefined before `prepare`: until then nothing is noted. */
  private range: WorkerRange | undefined;
  /** Every layout that was ever seen to have issued IDs: a cluster that lacks one is told. */
  private readonly layouts = new Set<string>();

  constructor(
    private readonly values: KeyValues,
    private readonly keys: WorkerKeys,
    /** See reachOf. */
    private readonly reachMs: number,
  ) {}

  async prepare(workers: WorkerRange): Promise<void> {
    await this.addWhatIsMissing(workers);
    this.range = workers;
  }

  async rememberLayout(fingerprint: string): Promise<void> {
    this.layouts.add(fingerprint);
    await this.addWhatIsMissing({ min: 1, max: 0 });
  }

  /** A read of what may be believed: a cluster that nobody has noted yet is noted first. @throws TableFormatError */
  async look(read: () => Promise<Seen>): Promise<{ readonly seen: Seen; readonly floorMs: number }> {
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const seen = await read();
      const state = this.termOf(seen);
      const isBack = this.last?.cluster === seen.cluster && seen.revision < this.last.revision;
      const own = isBack ? `${seen.cluster}, later` : this.last?.cluster;
      if (this.range === undefined || !mustNote(state, this.reachMs, own)) {
        this.believe(seen);
        return { seen, floorMs: floorOf(state, this.reachMs) };
      }
      await this.note(this.range, own, isBack);
    }
    throw this.values.unavailable('reading the workers', 'it is another cluster at every look');
  }

  /** What an answer shows of the cluster, to be compared with the next one. */
  believe({ cluster, revision, entries }: Seen): void {
    this.last = { cluster, revision };
    for (const each of this.keys.layoutsIn(entries)) this.layouts.add(each);
  }

  private termOf({ entries, cluster }: Seen): StoreTerm {
    const key = this.keys.state;
    const state = stateOf(key, entries.get(key));
    if (state !== undefined && state.format > FORMAT) throw new TableFormatError(key, state.format, FORMAT);
    const { lostAtMs = 0, reachMs = 0 } = state ?? {};
    return { nowMs: Date.now(), term: cluster, knownTerm: state?.term, lostAtMs, reachMs };
  }

  /** Notes the cluster that answers, after all that it may lack. */
  private async note(workers: WorkerRange, own: string | undefined, isBack: boolean): Promise<void> {
    const { keys, values, reachMs } = this;
    const seen = await values.readAll();
    const { cluster, entries } = seen;
    if (own !== undefined && own !== cluster) await this.addWhatIsMissing(workers);
    // Clocks of hosts differ: a holder's may be ahead of this one.
    const fences = fencesOf(keys.fence, entries.get(keys.fence));
    const heartbeats = keys.idsIn(entries).map((id) => {
      const key = keys.row(id);
      return rowOfRecord(key, entries.get(key)!, fences).heartbeatMs;
    });
    const nowMs = Math.max(Date.now(), ...heartbeats);
    await update(values, 'noting the cluster', keys.state, (text) => {
      const known = stateOf(keys.state, text);
      const state = { ...this.termOf(seen), knownTerm: known?.term, lostAtMs: known?.lostAtMs ?? 0 };
      const isLost = isBack || (known === undefined ? own !== undefined && own !== cluster : isUnseenLoss(state, own));
      return JSON.stringify({
        ...{ format: FORMAT, term: cluster, lostAtMs: isLost ? nowMs : state.lostAtMs },
        reachMs: Math.max(known?.reachMs ?? 0, reachMs),
      });
    });
    this.believe(seen);
  }

  private async addWhatIsMissing({ min, max }: WorkerRange): Promise<void> {
    const { keys, layouts } = this;
    const wanted = new Map([[keys.fence, JSON.stringify(NO_FENCES)]]);
    for (let id = min; id <= max; id++) wanted.set(keys.row(id), recordOf(unusedRow(id), NO_FENCES.count));
    for (const each of layouts) wanted.set(keys.layout(each), '1');
    await this.values.addMissing('preparing the workers', wanted);
  }
}
