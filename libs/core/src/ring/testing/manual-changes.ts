import { settle } from '../../testing/virtual-time.js';
import type { WordChanges } from '../ring-memory.js';

/** Changes of shared words that are heard of when a test says so. */
export class ManualChanges implements WordChanges {
  private listeners: { readonly isOver: () => boolean; readonly tell: () => void }[] = [];

  get listening(): number {
    return this.listeners.length;
  }

  changed(words: Int32Array, index: number, value: number): Promise<void> {
    return new Promise((tell) => this.listeners.push({ isOver: () => Atomics.load(words, index) !== value, tell }));
  }

  /** Lets everybody hear of what has changed. */
  async spread(): Promise<void> {
    const over = this.listeners.filter(({ isOver }) => isOver());
    this.listeners = this.listeners.filter((each) => !over.includes(each));
    for (const { tell } of over) tell();
    await settle();
  }
}
