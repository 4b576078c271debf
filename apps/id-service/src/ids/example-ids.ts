import { createLayout, parseId } from '@raindrop/nestjs';
import { serviceLayout } from '../service-layout.js';

const layout = createLayout(serviceLayout, Date.parse('2026-11-21'));
const [first, second] = [0, 1].map((sequence) =>
  layout.pack({ tick: 28_023_330, workerId: 17, clockBack: 0, sequence }),
);

/** The example of the API description: two IDs of one worker and second. */
export const EXAMPLE_IDS = [String(first), String(second)] as const;

/** The content of the second one. */
export const EXAMPLE = parseId(layout, second!);
