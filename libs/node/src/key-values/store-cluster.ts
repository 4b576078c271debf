import { type FenceRequest, unusedRow, type WorkerRange, type WorkerWrite } from '@raindrop/core';
import {
  FailoverGuard,
  type FenceTime,
  stateAfterFence,
  wallClock,
  type BelievedServer,
  type Look,
  type ServerVerdict,
} from '@raindrop/core/internal';
import { TableFormatError } from '../tables/state-table.js';
import { type KeyValues, type Seen, update } from './key-values.js';
import {
  fencesOf,
  FORMAT,
  NO_FENCES,
  recordOf,
  rowOfRecord,
  stateOf,
  textOfState,
  versionAtWrite,
  type WorkerKeys,
} from './worker-record.js';

/**
 * The cluster that keeps a table of workers. A cluster that was restored from a snapshot has another name, or its
 * revision went back: it may lack what was granted since.
 */
export class StoreCluster {
  private readonly guard: FailoverGuard;
  /** Undefined before `prepare`: until then nothing is recorded. */
  private range: WorkerRange | undefined;

  constructor(
    private readonly values: KeyValues,
    private readonly keys: WorkerKeys,
    /** See grantReachMs. */
    reachMs: number,
  ) {
    this.guard = new FailoverGuard(reachMs);
  }

  async prepare(workers: WorkerRange): Promise<void> {
    await this.addWhatIsMissing(workers);
    this.range = workers;
    this.guard.mayWrite = true;
  }

  /** The keys that a look needs by which the cluster is judged. */
  get keysToJudge(): readonly string[] {
    const { written } = this.guard.believed ?? {};
    return [this.keys.state, this.keys.fence, ...(written === undefined ? [] : [this.keys.row(written.id)])];
  }

  /** A row is about to be written in the cluster of the last look. */
  noteSent(write: WorkerWrite): void {
    this.guard.noteSent(write);
  }

  /** A row was written in the cluster of the last look. */
  noteWritten(write: WorkerWrite): void {
    this.guard.noteWritten(write);
  }

  async rememberLayout(fingerprint: string): Promise<void> {
    this.guard.noteLayouts([fingerprint]);
    await this.addWhatIsMissing({ min: 1, max: 0 });
  }

  /**
   * Reads what may be believed: a cluster that no process has recorded yet is recorded first.
   * @param read reads all keys, or {@link keysToJudge} among others
   * @throws FormerPrimaryError; TableFormatError
   */
  async readBelieved(read: () => Promise<Seen>): Promise<{ readonly seen: Seen; readonly verdict: ServerVerdict }> {
    const { answer: seen, verdict } = await this.guard.readBelieved({
      read,
      judge: (found) => this.judge(found),
      completeAndRecord: (_, mayLackRows) => this.completeAndRecord(mayLackRows),
      anotherEachTime: () => this.values.unavailable('reading the workers', 'every read reaches another cluster'),
    });
    this.guard.noteLayouts(this.keys.layoutsIn(seen.entries));
    return { seen, verdict };
  }

  /** What is recorded of losses; nothing where no cluster is recorded yet. @throws TableFormatError */
  async stateNow(): Promise<{ readonly lostAtMs: number; readonly reachMs: number }> {
    const { lostAtMs = 0, reachMs = 0 } = (await this.readState()) ?? {};
    return { lostAtMs, reachMs };
  }

  /**
   * See stateAfterFence. The cluster is recorded: it is no failover for the next start. Nothing is changed where none is
   * recorded yet: rows that are added later are fenced by their key.
   */
  async fence(request: FenceRequest, at: FenceTime): Promise<void> {
    const { state } = this.keys;
    const known = await this.readState();
    if (known === undefined) return;
    await update(this.values, 'fencing the workers', state, ({ cluster: term, entries }) => {
      const before = stateOf(state, entries.get(state)) ?? known;
      const { failoverNumber, lostAtMs } = stateAfterFence(before, request, at);
      return textOfState({ ...before, term, failoverNumber, lostAtMs });
    });
  }

  private async readState(): Promise<ReturnType<typeof stateOf>> {
    const { state } = this.keys;
    return stateOf(state, (await this.values.read('fencing the workers', new Set([state]))).entries.get(state));
  }

  /** @throws FormerPrimaryError; TableFormatError */
  private judge(answer: Seen): Look<Seen> {
    const { cluster, entries, revision } = answer;
    const key = this.keys.state;
    const known = stateOf(key, entries.get(key));
    if (known !== undefined && known.format > FORMAT) throw new TableFormatError(key, known.format, FORMAT);
    const { failoverNumber = 0, lostAtMs = 0, reachMs = 0 } = known ?? {};
    // No row's key is ever deleted: see worker-record.ts.
    const versionOf = (id: number): number | undefined => {
      const text = entries.get(this.keys.row(id));
      return text === undefined ? -1 : versionAtWrite(text);
    };
    const seen = {
      nowMs: wallClock.now(),
      term: cluster,
      knownTerm: known?.term,
      failoverNumber,
      revision,
      lostAtMs,
      reachMs,
      fencedUntilMs: fencesOf(this.keys.fence, entries.get(this.keys.fence)).untilMs,
      versionOf,
    };
    return { answer, seen, verdict: this.guard.judge(seen) };
  }

  /**
   * Writes the state in any case: its key's revision rises, and a later look finds a memory that was restored.
   * @returns the cluster, with the failover number that it is recorded in
   */
  private async completeAndRecord(mayLackRows: boolean): Promise<BelievedServer> {
    if (mayLackRows) await this.addWhatIsMissing(this.range!);
    return this.record();
  }

  /** Records the cluster that answers, unless another process has done so meanwhile. */
  private async record(): Promise<BelievedServer> {
    const { keys, values, guard } = this;
    const { entries } = await values.readAll();
    // The clocks of hosts differ: a holder's may be ahead of this one.
    const fences = fencesOf(keys.fence, entries.get(keys.fence));
    const heartbeats = keys.idsIn(entries).map((id) => {
      const key = keys.row(id);
      return rowOfRecord(key, entries.get(key)!, fences).heartbeatMs;
    });
    let recorded: BelievedServer | undefined;
    const note = (now: Seen): string => {
      const { seen, verdict } = this.judge(now);
      const { failoverNumber, isNewFailover } = verdict;
      recorded = { term: seen.term, failoverNumber };
      return textOfState({
        format: FORMAT,
        term: seen.term,
        failoverNumber,
        lostAtMs: isNewFailover ? Math.max(seen.nowMs, seen.lostAtMs, ...heartbeats) : seen.lostAtMs,
        reachMs: Math.max(seen.reachMs, guard.reachMs),
      });
    };
    await update(values, 'noting the cluster', keys.state, note, this.keysToJudge);
    return recorded!;
  }

  private async addWhatIsMissing({ min, max }: WorkerRange): Promise<void> {
    const { keys, guard } = this;
    const wanted = new Map([[keys.fence, JSON.stringify(NO_FENCES)]]);
    for (let id = min; id <= max; id++) wanted.set(keys.row(id), recordOf(unusedRow(id), NO_FENCES.count));
    for (const each of guard.layouts) wanted.set(keys.layout(each), '1');
    await this.values.addMissing('preparing the workers', wanted);
  }
}
