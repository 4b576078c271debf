import {
  FormerPrimaryError,
  judgeServer,
  type BelievedServer,
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
