import type { Act, Host, LayoutName } from './acts.js';
import type { Search } from './search.js';
import type { Rules } from './world.js';

/** A wrong clock is wrong by so much, ms: the bars of failovers and fences are shorter. */
const WRONG_MS = 3_000;

/** A search, what it is about, and how it ends today. */
export interface NamedSearch extends Search {
  readonly about: string;
  /** `a repeat`: a safeguard is missing, in the rules of this search or in the code. */
  readonly finds: 'nothing' | 'a repeat';
  /** The fewest acts with which an ID repeats; without a repeat, how deep `npm run test:all` searches. */
  readonly depth: number;
  /** Takes more than a second: `npm test` leaves it out. */
  readonly isLong?: boolean;
}

const start = (host: Host, layout: LayoutName = 'L1'): Act => ({ kind: 'start', host, layout });
const stop = (host: Host): Act => ({ kind: 'stop', host });
const kill = (host: Host): Act => ({ kind: 'kill', host });
const LOOK: Act = { kind: 'look', host: 'A', layout: 'L1' };
const WAIT: Act = { kind: 'wait' };
const BACKUP: Act = { kind: 'backup' };
const RESTORE: Act = { kind: 'restore' };
const FAILOVER: Act = { kind: 'failover' };
const RETURN: Act = { kind: 'return' };
const FENCE: Act = { kind: 'fence' };
const clocks = (store: number, hosts: number): Act => ({ kind: 'clocks', errors: { store, hosts } });
const RIGHT = clocks(0, 0);

/** The store judges the operator's clock, and the operator follows the runbook. */
const RULES: Rules = {
  judgesOperator: true,
  fencesWithRightClocks: true,
  namesLayouts: true,
  statesServedAlone: 'none',
  hasTerms: true,
  mostFailovers: 2,
  restoresElsewhere: false,
};

/** L1 has served. */
const SERVED: readonly Act[] = [start('A'), stop('A'), WAIT];

/** L1 has served; L2 was tried and stopped; the table knows both. */
const CANARY: readonly Act[] = [...SERVED, start('A', 'L2'), stop('A'), WAIT, start('A'), stop('A'), WAIT];

const LAYOUT_ACTS: readonly Act[] = [start('A'), start('A', 'L2'), stop('A'), FENCE, WAIT];
const BACKUP_ACTS: readonly Act[] = [start('A'), start('B'), BACKUP, RESTORE, FENCE, RIGHT];
const CLOCK_ACTS: readonly Act[] = [
  ...[RIGHT, clocks(WRONG_MS, WRONG_MS), clocks(-WRONG_MS, -WRONG_MS)],
  ...[clocks(-WRONG_MS, 0), clocks(WRONG_MS, 0), clocks(0, -WRONG_MS), clocks(0, WRONG_MS)],
];

/** By name. Each has few acts, so that many of them fit into a schedule. */
export const SEARCHES: Readonly<Record<string, NamedSearch>> = {
  'backups-and-layouts': {
    about: 'A backup from before the first process with L2 is restored, and L1 is rolled back to.',
    rules: RULES,
    past: SERVED,
    alphabet: [...LAYOUT_ACTS, BACKUP, RESTORE],
    finds: 'nothing',
    depth: 7,
  },
  'backups-after-a-canary': {
    about: 'The table knows L2, and a backup from before its deploy is restored.',
    rules: RULES,
    past: CANARY,
    alphabet: [...LAYOUT_ACTS, BACKUP, RESTORE],
    finds: 'nothing',
    depth: 7,
  },
  'backups-and-clocks': {
    about: 'The store judges the operator’s clock, and the clocks are right at a fence.',
    rules: RULES,
    past: SERVED,
    finds: 'nothing',
    depth: 6,
    alphabet: [...BACKUP_ACTS, clocks(-WRONG_MS, 0), clocks(-WRONG_MS, -WRONG_MS)],
  },
  'backups-to-another-server': {
    about: 'A backup is restored to another server, which may fail over.',
    rules: { ...RULES, restoresElsewhere: true },
    past: SERVED,
    finds: 'nothing',
    depth: 6,
    alphabet: [start('A'), start('B'), stop('A'), kill('B'), BACKUP, RESTORE, FAILOVER, FENCE, WAIT],
  },
  'backups-without-terms': {
    about: 'The store does not tell servers apart: a fence bars for less.',
    rules: { ...RULES, hasTerms: false },
    past: SERVED,
    finds: 'nothing',
    depth: 6,
    alphabet: [start('A'), start('B'), stop('A'), kill('B'), BACKUP, RESTORE, FENCE, WAIT],
  },
  'layouts-not-named': {
    about: 'Control: the operator names no layout that served since the backup, which knows none of it.',
    rules: { ...RULES, namesLayouts: false },
    past: SERVED,
    finds: 'a repeat',
    depth: 5,
    alphabet: [...LAYOUT_ACTS, BACKUP, RESTORE],
  },
  'one-layout-stated': {
    about: 'Control: the operator states that only one layout has served since the backup, and the other one has.',
    rules: { ...RULES, statesServedAlone: 'L1' },
    past: CANARY,
    finds: 'a repeat',
    depth: 5,
    alphabet: [...LAYOUT_ACTS, BACKUP, RESTORE],
  },
  'one-layout-stated-rightly': {
    about: 'The operator states that one layout has served since the backup, where no other one has.',
    rules: { ...RULES, statesServedAlone: 'only one' },
    past: CANARY,
    finds: 'nothing',
    depth: 7,
    alphabet: [...LAYOUT_ACTS, BACKUP, RESTORE],
  },
  'one-layout-stated-rightly-without-a-trace': {
    about: 'The same, and the backup may be from before the first process with L2.',
    rules: { ...RULES, statesServedAlone: 'only one' },
    past: SERVED,
    finds: 'nothing',
    depth: 7,
    alphabet: [...LAYOUT_ACTS, BACKUP, RESTORE],
  },
  'operator-not-judged': {
    about: 'Control: the store’s clock is behind at a fence, and the store does not compare the operator’s.',
    rules: { ...RULES, judgesOperator: false, fencesWithRightClocks: false },
    past: SERVED,
    alphabet: [...BACKUP_ACTS, clocks(-WRONG_MS, 0)],
    finds: 'a repeat',
    depth: 9,
    isLong: true,
  },
  'fence-with-all-clocks-behind': {
    about: 'A limit: store and hosts are behind at a fence, and the backup is older than that.',
    rules: { ...RULES, fencesWithRightClocks: false },
    past: SERVED,
    alphabet: [...BACKUP_ACTS, clocks(-WRONG_MS, -WRONG_MS)],
    finds: 'a repeat',
    depth: 8,
    isLong: true,
  },
  'fence-after-a-loss-in-the-future': {
    about: 'A process records a failover while all clocks are ahead. They are corrected, and the operator fences.',
    rules: { ...RULES, mostFailovers: 1 },
    past: SERVED,
    finds: 'nothing',
    depth: 9,
    alphabet: [start('A'), kill('A'), LOOK, FAILOVER, FENCE, RIGHT, clocks(WRONG_MS, WRONG_MS)],
  },
  'failover-after-a-loss-in-the-future': {
    about:
      'A process records a failover while all clocks are ahead. They are corrected, and a second failover follows.',
    rules: RULES,
    past: SERVED,
    finds: 'nothing',
    depth: 8,
    alphabet: [start('A'), start('B'), LOOK, FAILOVER, RIGHT, clocks(WRONG_MS, WRONG_MS)],
    isLong: true,
  },
  'failover-loses-a-layout': {
    about: 'A limit: a failover loses all that a first process with L2 has written, the name of L2 too.',
    rules: RULES,
    past: SERVED,
    alphabet: [...LAYOUT_ACTS, kill('A'), FAILOVER],
    finds: 'a repeat',
    depth: 4,
  },
  'failovers-after-a-canary': {
    about: 'The table knows L2, and failovers lose what processes with both layouts have written.',
    rules: RULES,
    past: CANARY,
    alphabet: [...LAYOUT_ACTS, kill('A'), FAILOVER],
    finds: 'nothing',
    depth: 7,
  },
  'failover-after-a-wrong-clock': {
    about:
      'The row of L1 has a time of a clock that was ahead. A failover loses what L2 has written after the correction.',
    rules: { ...RULES, mostFailovers: 1 },
    past: CANARY,
    finds: 'a repeat',
    depth: 8,
    isLong: true,
    alphabet: [start('A'), start('A', 'L2'), stop('A'), FAILOVER, RIGHT, clocks(WRONG_MS, WRONG_MS)],
  },
  'former-primary-and-hosts': {
    about: 'Two hosts take turns, and a former primary serves again after a fence.',
    rules: RULES,
    past: SERVED,
    finds: 'nothing',
    depth: 7,
    alphabet: [start('A'), start('B'), kill('A'), stop('B'), FAILOVER, RETURN, FENCE, WAIT],
  },
  'former-primary-and-layouts': {
    about: 'L2 served on another primary only, and the former one serves again after a fence.',
    rules: RULES,
    past: CANARY,
    finds: 'nothing',
    depth: 6,
    alphabet: [...LAYOUT_ACTS, kill('A'), FAILOVER, RETURN],
  },
  everything: {
    about: 'All acts together.',
    rules: RULES,
    past: CANARY,
    finds: 'nothing',
    depth: 4,
    isLong: true,
    alphabet: [
      ...LAYOUT_ACTS,
      start('B'),
      kill('A'),
      stop('B'),
      BACKUP,
      RESTORE,
      FAILOVER,
      RETURN,
      LOOK,
      ...CLOCK_ACTS,
    ],
  },
};
