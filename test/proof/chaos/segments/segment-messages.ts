import type { ProcessOrders } from '../issuing-messages.js';

/** What a process is told that issues numbers from segments. */
export interface SegmentOrders extends ProcessOrders {
  /** TypeORM options of the database, through the process's own proxy. */
  readonly database: Readonly<Record<string, unknown>>;
  /** The Redis, through a proxy of the process's own. */
  readonly redis: { readonly host: string; readonly port: number };
  /** Numbers per second. */
  readonly rate: number;
  /** Whether safeguards are left out, see {@link BROKEN}. */
  readonly control: boolean;
}

export const SEGMENT_TABLE = 'raindrop_segment';
export const APP_TABLE = 'raindrop_app_segment';

/** The app whose sharded IDs are drawn, and who draws them: their shards are 12 and 48. */
export const APP = 7;
export const GATE_PASSES = { '7_12': 'zhangsan', '7_48': '13900139000' } as const;

/** Everything that has numbers of its own: codes, and `app_shard`. */
export const KEYS = ['plain', 'invoice', 'credit', 'order', 'refund', '7_12', '7_48'] as const;
export type Key = (typeof KEYS)[number];

/** The keys whose numbers come by way of Redis; the others' come straight from the database. */
export const REDIS_KEYS: readonly string[] = ['order', 'refund', '7_48'];

/** How many numbers a reservation takes when it says nothing else: of a row, and of Redis. */
export const ROW_STEP = 1_000;
export const REDIS_RUN = 200;

/** How long a call of the store may take, ms. */
export const OP_TIMEOUT_MS = 300;

/** What is broken for a key in the control. */
export const BROKEN: Readonly<Partial<Record<Key, 'rolledBack' | 'unguarded' | 'dropped'>>> = {
  plain: 'rolledBack',
  invoice: 'unguarded',
  credit: 'dropped',
};
