import type { SegmentSource } from '@raindrop/core';
import type { Journal, Level } from './journal.js';

/** A source that writes down what is asked of another, before it asks, and what comes of it, before that is used. */
export function witnessed(source: SegmentSource, level: Level, key: string, journal: Journal): SegmentSource {
  return {
    async reserve(request) {
      const id = journal.nextId();
      journal.add({ id, at: Date.now(), level, key, call: 'reserve', count: request.count ?? null });
      try {
        const segment = await source.reserve(request);
        const [first, last] = [Number(segment.first), Number(segment.last)];
        journal.add({ id, at: Date.now(), outcome: 'reserved', first, last });
        return segment;
      } catch (error) {
        journal.add({ id, at: Date.now(), outcome: 'failed' });
        throw error;
      }
    },
    async giveBack(unused) {
      const id = journal.nextId();
      const [first, last] = [Number(unused.first), Number(unused.last)];
      journal.add({ id, at: Date.now(), level, key, call: 'giveBack', first, last });
      try {
        const wentBack = await source.giveBack(unused);
        journal.add({ id, at: Date.now(), outcome: wentBack ? 'returned' : 'refused' });
        return wentBack;
      } catch (error) {
        journal.add({ id, at: Date.now(), outcome: 'failed' });
        throw error;
      }
    },
  };
}
