import { examplePlan } from '../layouts/layouts.js';

/** What the API's description shows. */
export const exampleWorkers = {
  nowMs: 1_795_248_930_123,
  workers: [
    {
      workerId: 17,
      state: 'held',
      holder: 'orders-5d9c7:1:a3f81b',
      leaseLeftMs: 52_110,
      graceLeftMs: 112_110,
      lane: 0,
      odometers: [
        { time: '2026-11-21T08:16:35.000Z', sequence: 262_143 },
        { time: null, sequence: 0 },
      ],
      layout: examplePlan.fingerprint,
      heartbeat: '2026-11-21T08:15:22.000Z',
    },
  ],
};
