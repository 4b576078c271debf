import { createLayout, parseId } from '@raindrop/nestjs';
import { serviceLayout } from '../service-layout.js';

const layout = createLayout(serviceLayout, Date.parse('2026-11-21'));
const [first, second] = [0, 1].map((sequence) =>
  layout.pack({ tick: 28_023_330, workerId: 17, clockBack: 0, sequence }),
);

/** What the API's description shows: two IDs of one worker, of the same second. */
export const EXAMPLE_IDS = [String(first), String(second)] as const;

/** What the second one says. */
export const EXAMPLE = parseId(layout, second!);
