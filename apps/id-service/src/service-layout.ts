import {
  ConfigurationError,
  planLayout,
  presets,
  type Layout,
  type LayoutOptions,
  type ReadyLayoutOptions,
} from '@raindrop/nestjs';

/**
 * The layout of a service whose worker table is empty, when `LAYOUT` is not set: seconds since 2026 for 272 years, 1,023
 * workers, 262,144 IDs a second for each of them. One end bit is left for the day the layout is changed.
 */
export const serviceLayout = {
  timeUnit: 'second',
  startTimeStamp: '2026-01-01',
  timeStampLength: 33,
  workIdLength: 10,
  endBitsLength: 1,
} as const satisfies LayoutOptions;

/** The layout that `LAYOUT` names. */
export interface ServiceLayout {
  readonly options: LayoutOptions | ReadyLayoutOptions;
  readonly maxWorkerId: number;
}

const OPTIONS = ['timeUnit', 'startTimeStamp', 'timeStampLength', 'workIdLength', 'endBitsLength', 'endBitsValue'];

const PRESETS = Object.keys(presets) as (keyof typeof presets)[];

const LEGAL =
  `must be number, a preset (${PRESETS.join(', ')}), or a JSON object: for a preset {"preset":"tsid","nodeBits":8}, ` +
  `for the bits {"startTimeStamp":"2026-01-01","timeStampLength":33,"workIdLength":10}`;

/**
 * Reads LAYOUT.
 * @throws Error that says everything that is wrong with it
 */
export function readLayout(given: string): ServiceLayout {
  const { preset, ...more } = given.startsWith('{') ? objectIn(given) : { preset: given };
  try {
    const options = (preset === undefined ? bitsIn(more) : presetIn(preset, more)) as ReadyLayoutOptions;
    // A plan has every worker id of its layout, unless it is told of fewer.
    return { options, maxWorkerId: planLayout(options).workers.max };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new Error(error.problems.map((each) => `${each.option} = ${each.given}: ${each.message}`).join('; '));
  }
}

function objectIn(given: string): Record<string, unknown> {
  try {
    return JSON.parse(given) as Record<string, unknown>;
  } catch {
    throw new Error(LEGAL);
  }
}

/** The options of the bits. Their use by a service has its own variables. */
function bitsIn(given: Readonly<Record<string, unknown>>): object {
  const unknown = Object.keys(given).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) throw new Error(`${JSON.stringify(unknown)} is not known; legal: ${OPTIONS.join(', ')}`);
  return given;
}

/** `number`, or one of {@link PRESETS} with options of its own. */
function presetIn(preset: unknown, more: Readonly<Record<string, unknown>>): object {
  // A list of one name would be a text as well.
  const name = typeof preset === 'string' ? preset.toLowerCase() : undefined;
  if (name === 'number') return { layout: 'number', ...bitsIn(more) };
  const found = PRESETS.find((each) => each.toLowerCase() === name);
  if (found === undefined) throw new Error(LEGAL);
  return { layout: (presets[found] as (options: object) => Layout)(more) };
}
