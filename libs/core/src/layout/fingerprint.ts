import { Timeline } from '../time/timeline.js';
import type { Field, FieldRole } from './field.js';
import type { LayoutShape } from './layout-shape.js';
import { shapeProblem } from './shape-problem.js';

const LETTER: Readonly<Record<FieldRole, string>> = {
  time: 't',
  worker: 'w',
  clockBack: 'b',
  sequence: 's',
  fixed: 'e',
};
const ROLE = Object.fromEntries(Object.entries(LETTER).map(([role, letter]) => [letter, role])) as Record<
  string,
  FieldRole
>;

/** What fields are called whose names nobody knows: as those of raindrop's own layouts. */
const NAME: Readonly<Record<FieldRole, string>> = {
  time: 'timestamp',
  worker: 'worker',
  clockBack: 'clockBack',
  sequence: 'sequence',
  fixed: 'end',
};

/**
 * A layout as a short stable text: `1000@1672531200:t33.w10.b1.s18.e1=0` is the unit in ms, the epoch's tick and the
 * fields from the top with their widths, fixed ones with their value. The fields' names are not part of it.
 */
export function fingerprintOf(layout: {
  readonly unitMs: number;
  readonly timeline: { readonly epochTick: number };
  readonly fields: readonly Field[];
}): string {
  const fields = layout.fields.map(
    ({ role, bits, value }) => `${LETTER[role]}${bits}${role === 'fixed' ? `=${value ?? 0}` : ''}`,
  );
  return `${layout.unitMs}@${layout.timeline.epochTick}:${fields.join('.')}`;
}

/**
 * Returns the layout that a fingerprint stands for; undefined when the text is not one. Only a text that the layout
 * would write itself counts: by what is read here it is decided whether two layouts can produce the same ID.
 */
export function shapeOfFingerprint(fingerprint: string): LayoutShape | undefined {
  const match = /^(\d{1,12})@(-?\d{1,16}):([twbse\d.=]{1,200})$/.exec(fingerprint);
  if (match === null) return undefined;
  const fields = match[3]!.split('.').map((text): Field => {
    const [head, value] = text.split('=') as [string, string | undefined];
    const role = ROLE[head.charAt(0)]!;
    return {
      name: NAME[role],
      role,
      bits: Number(head.slice(1)),
      ...(value !== undefined && { value: Number(value) }),
    };
  });
  const unitMs = Number(match[1]);
  const shape = { fields, unitMs, epochMs: Number(match[2]) * unitMs };
  if (shapeProblem(shape) !== undefined) return undefined;
  return fingerprintOf({ ...shape, timeline: new Timeline(unitMs, shape.epochMs) }) === fingerprint ? shape : undefined;
}
