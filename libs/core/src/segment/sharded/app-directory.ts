import { RaindropError } from '../../raindrop-error.js';
import type { Timer, Timers } from '../../time/timers.js';
import type { App, AppSegmentStore } from '../app-segment-store.js';
import { withDeadline } from '../../supply/deadline.js';
import { SegmentStoreUnavailableError } from '../segment-errors.js';
import { ShardedIdsNotReadyError, UnknownAppError } from './sharded-errors.js';

/** How often the apps are read again: after so long another process's registration, or a removal, is seen. */
export const RELOAD_MS = 120_000;

/** Knows which apps there are, and looks again every two minutes. What it knew stays when a look fails. */
export class AppDirectory {
  /** Why the last look failed; undefined since one succeeded. */
  lastError: RaindropError | undefined;
  private known: ReadonlyMap<number, App> | undefined;
  private timer: Timer | undefined;
  private isStopped = false;
  private looks = 0;
  private latest = 0;

  /** @param removed is told which apps there were and are no more */
  constructor(
    private readonly store: AppSegmentStore,
    private readonly timers: Timers,
    private readonly opTimeoutMs: number,
    private readonly removed: (apps: readonly number[]) => void,
  ) {}

  get isReady(): boolean {
    return this.known !== undefined;
  }

  /** By id. */
  get apps(): readonly App[] {
    return [...(this.known?.values() ?? [])];
  }

  /** @throws ShardedIdsNotReadyError before the first look; UnknownAppError */
  require(app: number): void {
    if (this.known === undefined) throw new ShardedIdsNotReadyError(this.lastError);
    if (!this.known.has(app)) throw new UnknownAppError(app);
  }

  /** Looks, and goes on looking, whether this look succeeds or not. @throws SegmentStoreUnavailableError */
  async start(): Promise<void> {
    try {
      await this.look();
    } finally {
      this.lookLater();
    }
  }

  /** @throws SegmentStoreUnavailableError */
  async look(): Promise<void> {
    const look = ++this.looks;
    let apps: App[];
    try {
      apps = await withDeadline(() => this.store.apps(), this.opTimeoutMs, this.timers);
    } catch (error) {
      this.lastError = error instanceof RaindropError ? error : new SegmentStoreUnavailableError('reading apps', error);
      throw this.lastError;
    }
    // A slow answer must not undo what a later look has seen.
    if (look < this.latest) return;
    this.latest = look;
    this.lastError = undefined;
    const before = this.known;
    this.known = new Map(apps.map((app) => [app.id, app]));
    this.removed([...(before?.keys() ?? [])].filter((id) => !this.known!.has(id)));
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  private lookLater(): void {
    if (this.isStopped) return;
    this.timer?.cancel();
    this.timer = this.timers.setTimer(() => void this.lookAgain(), RELOAD_MS, 'background');
  }

  private async lookAgain(): Promise<void> {
    await this.look().catch(() => undefined);
    this.lookLater();
  }
}
