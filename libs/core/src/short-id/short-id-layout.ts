import { Layout } from '../layout/layout.js';

/**
 * Says what short IDs are made of: 43 bits of milliseconds since westid's epoch (until 2295), worker 5, sequence 5.
 * Give it to the service that leases the workers of a {@link ShortIdGenerator}; its own IDs are not short. There is no
 * clock-back bit: a number that repeats after 35 minutes has no room for a second lane.
 */
export const shortIdLayout = new Layout({
  unitMs: 1,
  epochMs: 1_490_346_283_706,
  fields: [
    { name: 'timestamp', role: 'time', bits: 43 },
    { name: 'worker', role: 'worker', bits: 5 },
    { name: 'sequence', role: 'sequence', bits: 5 },
  ],
});
