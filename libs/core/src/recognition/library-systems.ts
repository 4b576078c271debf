import type { LayoutParts } from '../layout/layout.js';
import { KEY_WORKER_ORIGINAL } from '../presets/key-worker.js';
import { presets } from '../presets/presets.js';
import { smallOdds } from './field-odds.js';
import { DECIMAL, type KnownSystem } from './known-system.js';

/** Workers count starts, and the sequence begins at zero or is anywhere in the ring of the cached generator. */
const uidOdds =
  (workers: number) =>
  ({ workerId, sequence }: LayoutParts): number =>
    smallOdds(workerId, workers, 1_000, 0.9) * smallOdds(sequence, 8_192, 2);

/** The machine is the low half of an address, the sequence that of ten milliseconds. */
const sonyOdds = ({ sequence }: LayoutParts): number => smallOdds(sequence, 256, 0.5, 0.9) / 2 ** 16;

/** Generators that anybody can run, with their own bits and epochs. */
export function librarySystems(): readonly KnownSystem[] {
  return [
    {
      ...{ name: 'sonyflake', title: 'Sonyflake', layout: presets.sonyflake(), weight: 0.2, usual: DECIMAL },
      sinceMs: Date.parse('2015-05-01'),
      odds: sonyOdds,
    },
    {
      ...{ name: 'sonyflake2', title: 'Sonyflake 2', weight: 0.1, usual: DECIMAL },
      layout: presets.sonyflake({ startTimeStamp: '2025-01-01' }),
      sinceMs: Date.parse('2025-01-01'),
      odds: sonyOdds,
    },
    {
      ...{ name: 'tsid', title: 'TSID', layout: presets.tsid(), weight: 0.08, usual: /^decimal|^base32/ },
      sinceMs: Date.parse('2020-01-01'),
      odds: () => 1 / 2 ** 22,
    },
    {
      ...{ name: 'uidGenerator', title: 'uid-generator', layout: presets.uidGenerator(), weight: 0.1, usual: DECIMAL },
      sinceMs: Date.parse('2016-05-20'),
      odds: uidOdds(2 ** 22),
    },
    {
      ...{ name: 'uidGeneratorReadme', title: "uid-generator with its README's bits", weight: 0.1, usual: DECIMAL },
      layout: presets.uidGenerator({ timeBits: 29, workerBits: 21, startTimeStamp: '2016-09-20T00:00:00+08:00' }),
      sinceMs: Date.parse('2016-09-20'),
      odds: uidOdds(2 ** 21),
    },
    {
      ...{ name: 'westid', title: 'westid', layout: presets.westid(), weight: 0.05, usual: DECIMAL },
      sinceMs: Date.parse('2017-03-24'),
      odds: ({ sequence }) => smallOdds(sequence, 4_096, 1, 0.3) / 1_024,
    },
    {
      ...{ name: 'keyWorker', title: 'KeyWorker', layout: KEY_WORKER_ORIGINAL, weight: 0.02, usual: DECIMAL },
      sinceMs: Date.parse('2015-01-01'),
      odds: ({ sequence }) => smallOdds(sequence, 4_096, 1) / 1_024,
    },
  ];
}
