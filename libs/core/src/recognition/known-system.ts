import type { Layout, LayoutParts } from '../layout/layout.js';

/** What is known of a system whose IDs can be told from those of others. */
export interface KnownSystem {
  readonly name: string;
  readonly title: string;
  readonly layout: Layout;
  /** When its first IDs were issued, Unix ms; the epoch may lie years before. */
  readonly sinceMs: number;
  /** How often such an ID is met, compared with the others. */
  readonly weight: number;
  /** In which forms its IDs are nearly always written. */
  readonly usual: RegExp;
  /** How probable the bits below the time are; all combinations together make 1. */
  readonly odds: (parts: LayoutParts) => number;
}

/** How the IDs of most systems are written. */
export const DECIMAL = /^decimal|^signed$|^hex-0x$/;
