import {
  FailoverGuard,
  FormerPrimaryError,
  judgeServer,
  MOST_LOOKS,
  type BelievedServer,
  type GuardedServer,
  type ServerVerdict,
  type StoreTerm,
} from './failover-guard.js';

const NOW = 1_700_000_000_000;
const REACH = 185_000;

const seen = (change: Partial<StoreTerm>): StoreTerm => ({
  ...{ nowMs: NOW, term: 'A', knownTerm: 'A', epoch: 100, lostAtMs: 50, reachMs: REACH },
  ...change,
});

const judge = (change: Partial<StoreTerm>, believed?: BelievedServer, wasRestored = false): ServerVerdict =>
  judgeServer(seen(change), REACH, believed, wasRestored);

describe('The server that answers', () => {
  it('is believed as it is when it is the one that was noted', () => {
    for (const believed of [undefined, { term: 'A', epoch: 100 }]) {
      const verdict = judge({}, believed);
      expect(verdict).toEqual({
        ...{ isAnother: false, isNewFailover: false, mustRecord: false },
        ...{ epoch: 100, floorMs: 50 + REACH },
      });
    }
  });

  it('is noted first where the table was never seen on one, without a loss', () => {
    const verdict = judge({ knownTerm: undefined, epoch: 0, lostAtMs: 0, reachMs: 0 });
    expect(verdict).toMatchObject({ isNewFailover: false, mustRecord: true, epoch: NOW, floorMs: 0 });
  });

  it('is not noted where nothing tells servers apart', () => {
    const nothing = { term: '', knownTerm: undefined, epoch: 0, lostAtMs: 0, reachMs: 0 };
    for (const believed of [undefined, { term: '', epoch: 0 }]) {
      expect(judge(nothing, believed)).toMatchObject({ isAnother: false, mustRecord: false, floorMs: 0 });
    }
  });

  it.each([
    ['another one was noted', { term: 'B' }, undefined],
    [
      'another one was noted, and this process knows of a later one',
      { term: 'B', epoch: 100 },
      { term: 'C', epoch: 300 },
    ],
    [
      'its note is gone, which this process knows',
      { knownTerm: undefined, epoch: 0, lostAtMs: 0 },
      { term: 'A', epoch: 9 },
    ],
    [
      'its note is gone, and it was another one',
      { knownTerm: undefined, epoch: 0, lostAtMs: 0 },
      { term: 'B', epoch: 0 },
    ],
    ['another one was noted side by side', {}, { term: 'B', epoch: 100 }],
    ['it was taken for the first one by a process that knew of none', { lostAtMs: 0 }, { term: 'B', epoch: 20 }],
  ])('has taken over and may have lost commits when %s', (_, change, believed) => {
    const { isNewFailover, mustRecord, isAnother, epoch, floorMs } = judge(change, believed);
    expect({ isNewFailover, mustRecord, isAnother, floorMs }).toEqual({
      ...{ isNewFailover: true, mustRecord: true, isAnother: true },
      floorMs: NOW + REACH,
    });
    // After all that were seen, whatever the clock says.
    expect(epoch).toBe(NOW);
    const ahead = judgeServer({ ...seen(change), nowMs: 1 }, REACH, believed);
    expect(ahead.epoch).toBe(Math.max(seen(change).epoch, believed?.epoch ?? 0) + 1);
  });

  it('is refused when a later one was believed: it was the primary before that', () => {
    expect(() => judge({}, { term: 'B', epoch: 101 })).toThrow(FormerPrimaryError);
    // Also with a failover in its own past.
    expect(() => judge({ lostAtMs: NOW - 31_536_000_000 }, { term: 'B', epoch: 101 })).toThrow(FormerPrimaryError);
  });

  it('is believed when it came after the one that was believed, with the same term or another', () => {
    for (const term of ['A', 'B']) {
      expect(judge({}, { term, epoch: 99 })).toMatchObject({
        isAnother: true,
        isNewFailover: false,
        mustRecord: false,
        epoch: 100,
      });
    }
  });

  it('is noted again when its memory went back, once', () => {
    const believed = { term: 'A', epoch: 100 };
    expect(judge({ epoch: 90 }, believed, true)).toMatchObject({ isNewFailover: true, epoch: NOW });
    expect(judge({ epoch: 100 }, believed, true)).toMatchObject({ isNewFailover: true, epoch: NOW });
    // Another process was faster.
    expect(judge({ epoch: NOW }, believed, true)).toMatchObject({
      isNewFailover: false,
      isAnother: true,
      mustRecord: false,
    });
  });

  it('gets the longest reach, with no other epoch, and its name once it tells it', () => {
    expect(judge({ reachMs: 1 })).toMatchObject({
      isNewFailover: false,
      mustRecord: true,
      epoch: 100,
      floorMs: 50 + REACH,
    });
    const told = judge({ knownTerm: '' }, { term: '', epoch: 100 });
    expect(told).toMatchObject({ isNewFailover: false, isAnother: true, mustRecord: true, epoch: 100 });
  });
});

describe('A guard against failovers', () => {
  let guard: FailoverGuard;
  /** The server that answers; undefined while none does. */
  let state: StoreTerm | undefined;
  /** What was written to servers: `fit` and `record`, with their terms. */
  let written: string[];

  const server: GuardedServer<string> = {
    read: () =>
      state === undefined
        ? Promise.reject(new Error('read ECONNRESET'))
        : Promise.resolve(`of ${state.term}, ${state.epoch}`),
    judge: (answer) => ({ answer, seen: state!, verdict: guard.judge(state!) }),
    settle: ({ seen: { term }, verdict: { mustRecord, epoch, isNewFailover } }, mustFit) => {
      if (mustFit) written.push(`fit ${term}`);
      if (mustRecord) {
        written.push(`record ${term}`);
        state = { ...state!, knownTerm: term, epoch, reachMs: REACH, ...(isNewFailover && { lostAtMs: NOW }) };
      }
      return Promise.resolve({ term, epoch });
    },
    unsettled: () => new Error('another server at every look'),
  };

  beforeEach(async () => {
    guard = new FailoverGuard(REACH);
    guard.mayWrite = true;
    state = seen({ epoch: 1, lostAtMs: 0 });
    written = [];
    expect(await guard.look(server)).toMatchObject({ answer: 'of A, 1', verdict: { floorMs: 0 } });
  });

  it('believes another server once that has been given what it lacks, and is recorded', async () => {
    state = seen({ term: 'B', epoch: 1, lostAtMs: 0 });
    expect(await guard.look(server)).toMatchObject({ answer: `of B, ${NOW}`, verdict: { floorMs: NOW + REACH } });
    expect(written).toEqual(['fit B', 'record B']);
    expect(guard.believed).toEqual({ term: 'B', epoch: NOW });
  });

  it('gives another server what it lacks also where another process has recorded it', async () => {
    state = seen({ term: 'B', knownTerm: 'B', epoch: 2, lostAtMs: 9 });
    expect(await guard.look(server)).toMatchObject({ answer: 'of B, 2', verdict: { floorMs: 9 + REACH } });
    expect(written).toEqual(['fit B']);
  });

  it('writes nothing to any server before it may', async () => {
    guard.mayWrite = false;
    state = seen({ term: 'B', epoch: 1, lostAtMs: 0 });
    expect(await guard.look(server)).toMatchObject({ answer: 'of B, 1', verdict: { floorMs: NOW + REACH } });
    expect(written).toEqual([]);
  });

  it.each([
    ['a layout that was seen since', 'a layout', ['fit B', 'fit B']],
    ['nothing where no new layout was seen since', 'known', ['fit B']],
  ])('gives a server whose answer was lost %s', async (_, layout, expected) => {
    guard.noteLayouts(['known']);
    const successor = seen({ term: 'B', knownTerm: 'B', epoch: 2 });
    state = successor;
    const { settle } = server;
    const breaking = {
      ...server,
      settle: (...given: Parameters<typeof settle>) => ((state = undefined), settle(...given)),
    };
    await expect(guard.look(breaking)).rejects.toThrow('ECONNRESET');
    // The process is led to the former primary once more, and sees a layout there.
    state = seen({ epoch: 1, lostAtMs: 0 });
    await guard.look(server);
    guard.noteLayouts([layout]);
    state = successor;
    await guard.look(server);
    expect(written).toEqual(expected);
  });

  it('does not go back to a server whose answer was read before, and comes after that of its successor', async () => {
    const former = state!;
    let arrive!: () => void;
    const late: GuardedServer<string> = {
      ...server,
      read: () => new Promise((resolve) => (arrive = () => resolve('of A, 1'))),
      judge: (answer) => ({ answer, seen: former, verdict: guard.judge(former) }),
    };
    const looking = guard.look(late);
    state = seen({ term: 'B', knownTerm: 'B', epoch: 2 });
    const other = guard.look(server);
    arrive();
    await other;
    await looking.catch((error: unknown) => expect(error).toBeInstanceOf(FormerPrimaryError));
    expect(guard.believed).toEqual({ term: 'B', epoch: 2 });
  });

  it('sees that the memory of the believed server went back, until that is recorded', async () => {
    state = seen({ epoch: 5, lostAtMs: 0, revision: 100 });
    await guard.look(server);
    written = [];
    state = seen({ epoch: 5, lostAtMs: 0, revision: 99 });
    const { settle } = server;
    const lost = { ...server, settle: () => ((state = undefined), Promise.resolve({ term: 'A', epoch: 5 })) };
    await expect(guard.look(lost)).rejects.toThrow('ECONNRESET');
    // Other processes have written since: the revision alone does not tell it any more.
    state = seen({ epoch: 5, lostAtMs: 0, revision: 200 });
    expect(await guard.look({ ...server, settle })).toMatchObject({ verdict: { floorMs: NOW + REACH } });
    expect(written).toEqual(['fit A', 'record A']);
    written = [];
    await guard.look(server);
    expect(written).toEqual([]);
  });

  it('believes no answer from before the record', async () => {
    const before = seen({ term: 'B', epoch: 1, lostAtMs: 0 });
    state = before;
    // Every record is lost.
    const forgetful = {
      ...server,
      settle: async (...given: Parameters<typeof server.settle>) => {
        const settled = await server.settle(...given);
        state = before;
        return settled;
      },
    };
    await expect(guard.look(forgetful)).rejects.toThrow('another server at every look');
    expect(written).toHaveLength(2 * MOST_LOOKS);
    expect(guard.believed).toEqual({ term: 'A', epoch: 1 });
  });
});
