import type { RaindropError } from '../raindrop-error.js';

/** An event of a lease, for logs, health and metrics. Nothing in it is secret. */
export type LeaseEvent =
  | { readonly type: 'lease-acquired'; readonly workerId: number }
  | { readonly type: 'lease-renewed'; readonly workerId: number; readonly tookMs: number }
  | { readonly type: 'lease-lost'; readonly workerId: number; readonly reason: string }
  | { readonly type: 'lease-regained'; readonly workerId: number }
  | { readonly type: 'lease-suspect'; readonly workerId: number; readonly reason: string }
  | { readonly type: 'lease-released'; readonly workerId: number }
  /** The worker's current lane changed, because the clock went back. */
  | { readonly type: 'clock-back'; readonly workerId: number; readonly lane: 0 | 1 }
  | { readonly type: 'database-regression'; readonly workerId: number; readonly error: RaindropError }
  /** Something failed that is being tried again. */
  | { readonly type: 'lease-trouble'; readonly error: RaindropError }
  /** Something works that should be looked after. */
  | { readonly type: 'warning'; readonly message: string };
