import { unusedRow, type WorkerRange } from '@raindrop/core';
import {
  fencedState,
  judgeServer,
  type BelievedServer,
  type ServerVerdict,
  type StoreTerm,
  wallClock,
} from '@raindrop/core/internal';
import { TableFormatError } from '../tables/state-table.js';
import { type KeyValues, type Seen, update } from './key-values.js';
import { fencesOf, FORMAT, NO_FENCES, recordOf, rowOfRecord, stateOf, type WorkerKeys } from './worker-record.js';

/** What is new is noted, perhaps by another process at the same moment; a cluster that is new at each look is of no use. */
const MOST_LOOKS = 4;

/**
 * Which cluster keeps a table of workers. One that was restored from a snapshot has another name, or a revision that
 * went back, and may lack what was granted since.
 */
export class StoreCluster {
  /** Of the last answer that was believed; undefined before the first. */
  private last: (BelievedServer & { readonly revision: number }) | undefined;
  /** Its revision did since: a snapshot was restored, which is to be noted. */
  private wentBack = false;
  /** The epoch in which a cluster was given our rows and layouts. */
  private fittedEpoch: number | undefined;
  /** Undefined before `prepare`: until then nothing is noted. */
  private range: WorkerRange | undefined;
  /** Every layout that was ever seen to have issued IDs: a cluster that lacks one is told. */
  private readonly layouts = new Set<string>();

  constructor(
    private readonly values: KeyValues,
    private readonly keys: WorkerKeys,
    /** See grantReachMs. */
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

  /**
   * A read of what may be believed: a cluster that no process has noted yet is noted first.
   * @throws FormerPrimaryError; TableFormatError
   */
  async look(read: () => Promise<Seen>): Promise<{ readonly seen: Seen; readonly floorMs: number }> {
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const seen = await read();
      this.wentBack ||= this.last?.term === seen.cluster && seen.revision < this.last.revision;
      const { verdict, state } = this.judge(seen);
      const isFitted = !verdict.isAnother || this.fittedEpoch === state.epoch;
      if (this.range === undefined || (isFitted && !verdict.mustRecord)) {
        this.wentBack = false;
        this.last = { term: seen.cluster, epoch: state.epoch, revision: seen.revision };
        for (const each of this.keys.layoutsIn(seen.entries)) this.layouts.add(each);
        return { seen, floorMs: verdict.floorMs };
      }
      await this.fitAndNote(this.range);
    }
    throw this.values.unavailable('reading the workers', 'it is another cluster at every look');
  }

  /** See fencedState. Nothing where no cluster was noted yet: the rows that will be added are fenced by their own key. */
  async fence(nowMs: number): Promise<void> {
    const { state } = this.keys;
    const known = stateOf(state, (await this.values.read('fencing the workers', [state])).entries.get(state));
    if (known === undefined) return;
    await update(this.values, 'fencing the workers', state, ({ entries }) =>
      JSON.stringify(fencedState(stateOf(state, entries.get(state)) ?? known, nowMs)),
    );
  }

  /** @throws FormerPrimaryError; TableFormatError */
  private judge({ entries, cluster }: Seen): { readonly state: StoreTerm; readonly verdict: ServerVerdict } {
    const key = this.keys.state;
    const known = stateOf(key, entries.get(key));
    if (known !== undefined && known.format > FORMAT) throw new TableFormatError(key, known.format, FORMAT);
    const { epoch = 0, lostAtMs = 0, reachMs = 0 } = known ?? {};
    const state = { nowMs: wallClock.now(), term: cluster, knownTerm: known?.term, epoch, lostAtMs, reachMs };
    return { state, verdict: judgeServer(state, this.reachMs, this.last, this.wentBack) };
  }

  /** Notes the cluster that answers, after all that it may lack. */
  private async fitAndNote(workers: WorkerRange): Promise<void> {
    const { keys, values } = this;
    const seen = await values.readAll();
    if (this.judge(seen).verdict.isAnother) await this.addWhatIsMissing(workers);
    // Clocks of hosts differ: a holder's may be ahead of this one.
    const fences = fencesOf(keys.fence, seen.entries.get(keys.fence));
    const heartbeats = keys.idsIn(seen.entries).map((id) => {
      const key = keys.row(id);
      return rowOfRecord(key, seen.entries.get(key)!, fences).heartbeatMs;
    });
    await update(values, 'noting the cluster', keys.state, (now) => {
      const { state, verdict } = this.judge(now);
      const { epoch, isNewFailover } = verdict;
      this.fittedEpoch = epoch;
      return JSON.stringify({
        ...{ format: FORMAT, term: now.cluster, epoch },
        lostAtMs: isNewFailover ? Math.max(state.nowMs, ...heartbeats) : state.lostAtMs,
        reachMs: Math.max(state.reachMs, this.reachMs),
      });
    });
  }

  private async addWhatIsMissing({ min, max }: WorkerRange): Promise<void> {
    const { keys, layouts } = this;
    const wanted = new Map([[keys.fence, JSON.stringify(NO_FENCES)]]);
    for (let id = min; id <= max; id++) wanted.set(keys.row(id), recordOf(unusedRow(id), NO_FENCES.count));
    for (const each of layouts) wanted.set(keys.layout(each), '1');
    await this.values.addMissing('preparing the workers', wanted);
  }
}
