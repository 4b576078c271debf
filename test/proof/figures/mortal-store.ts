import type { Odometer, WorkerStore, WorkerWrite } from '@raindrop/core';

/**
 * A store through which a holder can die as by kill -9: its connection is dropped in whatever state it is, and nothing it
 * asks for afterwards reaches the database.
 */
export class MortalStore {
  private isDead = false;
  /** Writes whose outcome is unknown. */
  unanswered = 0;
  /** The most sequences by which one write has moved the odometer on inside its tick; the first write has none before. */
  largestGrant = 0;
  private last: Odometer | undefined;
  readonly store: WorkerStore;

  constructor(private readonly real: WorkerStore) {
    this.store = new Proxy(real, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (!this.isDead) return name === 'write' ? this.write : (value.bind(target) as unknown);
        return name === 'abandon' ? () => undefined : () => Promise.reject(new Error('this process is dead'));
      },
    });
  }

  die(): void {
    this.isDead = true;
    this.real.abandon();
  }

  private readonly write = async (write: WorkerWrite): Promise<boolean> => {
    const odometer = write.odometers[write.lane];
    if (this.last?.ms === odometer.ms) {
      this.largestGrant = Math.max(this.largestGrant, odometer.sequence - this.last.sequence);
    }
    this.last = odometer;
    try {
      return await this.real.write(write);
    } catch (error) {
      this.unanswered++;
      throw error;
    }
  };
}
