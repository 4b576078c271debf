import { EventEmitter } from 'node:events';
import type { IdService } from '@raindrop/nestjs';
import { LeaseTimeline } from './status.controller.js';

describe('The timeline of a lease', () => {
  let events: EventEmitter;
  let timeline: LeaseTimeline;

  beforeEach(() => {
    events = new EventEmitter();
    timeline = new LeaseTimeline({ events, status: () => ({ state: 'starting' }) } as unknown as IdService);
  });

  it('has the newest event first, and what a renewal took', () => {
    expect([timeline.events, timeline.lastRenewalMs]).toEqual([[], null]);
    events.emit('lease-acquired', { type: 'lease-acquired', workerId: 7 });
    events.emit('lease-renewed', { type: 'lease-renewed', workerId: 7, tookMs: 3.5 });
    events.emit('lease-suspect', { type: 'lease-suspect', workerId: 7, reason: 'host-7 has it' });
    expect(timeline.events.map(({ type }) => type)).toEqual(['lease-suspect', 'lease-acquired']);
    expect(timeline.lastRenewalMs).toBe(3.5);
    expect(JSON.stringify(timeline.events)).not.toMatch(/7"|host-7|workerId/);
  });

  it('begins with the worker id that is there already', () => {
    const held = { events, status: () => ({ state: 'held' }) } as unknown as IdService;
    expect(new LeaseTimeline(held).events).toMatchObject([{ type: 'lease-acquired' }]);
  });

  it('is bounded, and trouble that is met again is one event', () => {
    for (let time = 0; time < 1_000; time++) events.emit('lease-trouble', { type: 'lease-trouble' });
    expect(timeline.events).toHaveLength(1);
    for (let time = 0; time < 1_000; time++) events.emit('clock-back', { type: 'clock-back', lane: 1 });
    expect(timeline.events).toHaveLength(20);
  });
});
