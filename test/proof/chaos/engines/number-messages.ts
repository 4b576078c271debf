import type { ProcessOrders } from '../issuing-messages.js';
import type { Way } from './engine.js';

/** What a process is told that issues numbers from segments, and gapless ones. */
export interface NumberOrders extends ProcessOrders {
  readonly numbers: true;
  readonly database: Way;
  /** A Redis before the segments. */
  readonly redis?: Way;
  /** Numbers from segments per second. */
  readonly rate: number;
}

export const NUMBER_CODES = ['segment', 'gapless'] as const;

/** The rows that have gapless numbers. */
export const DOCUMENTS = 'chaos_document';
