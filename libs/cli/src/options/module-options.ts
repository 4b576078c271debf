import { type Layout, type LayoutOptions, presets, type ReadyLayoutOptions, showValue } from '@raindrop/core';
import { BIT_OPTIONS, layoutOfAnyCopy, layoutOptions, OptionReader, readAnyLayout } from '@raindrop/core/internal';
import type { SnowflakeModuleOptions } from '@raindrop/node';
import { serviceOptions } from '@raindrop/node/internal';
import { InputError } from '../input-error.js';
import { readConfigFile } from './config-file.js';
import { numberOf, optionsOfFlags } from './option-flags.js';

/** What the flags of a command came to. */
export type FlagValues = Readonly<Record<string, unknown>>;

/**
 * The module's options: from flags, else variables, else the file. A preset, or `--layout number`, in one of them takes
 * the place of the bits in those after it.
 * @throws InputError, ConfigurationError
 */
export function moduleOptions(flags: FlagValues): SnowflakeModuleOptions {
  // An empty variable counts as not set.
  const [config, chosen] = ['config', 'preset'].map((name) => (flags[name] as string | undefined) || undefined);
  const { preset: filePreset, ...file } = config === undefined ? {} : readConfigFile(config);
  const given = optionsOfFlags(flags);
  const preset = chosen ?? filePreset;
  const extra = presetOptionsOf((flags['presetOption'] as readonly string[] | undefined) ?? []);
  if (preset === undefined) {
    if (Object.keys(extra).length > 0) throw new InputError('--preset-option requires --preset');
    if (given['layout'] !== undefined) return { ...without(file, [...BIT_OPTIONS, 'layout']), ...given };
    return { ...file, ...given };
  }
  if (given['layout'] !== undefined)
    throw new InputError('use --preset or --layout, not both: each is a complete layout');
  // For a preset, the epoch is an option of its own.
  const { startTimeStamp, ...rest } = given;
  const layout = presetOf(preset, { ...(startTimeStamp !== undefined && { startTimeStamp }), ...extra });
  const kept = chosen === undefined ? file : without(file, [...BIT_OPTIONS, 'layout']);
  return { ...kept, ...rest, layout };
}

/**
 * Refuses what is an option of no service, as a service does: it was meant to be one.
 * @throws ConfigurationError
 */
export function refuseUnknown(options: SnowflakeModuleOptions): void {
  const reader = new OptionReader(options);
  for (const name of Object.keys(serviceOptions)) reader.value(name);
  reader.finish();
}

/** Whether anything says what the IDs look like. */
export function namesLayout(options: SnowflakeModuleOptions): boolean {
  return options.layout !== undefined || BIT_OPTIONS.some((name) => options[name] !== undefined);
}

/** The options that make and judge a layout, without those of a service. */
export function layoutOptionsOf(options: SnowflakeModuleOptions): LayoutOptions {
  const given = Object.entries(options).filter(([name, value]) => name in layoutOptions && value !== undefined);
  return Object.fromEntries(given) as unknown as LayoutOptions;
}

/**
 * The layout alone, for reading IDs: one that has expired will do.
 * @throws InputError when nothing names one; ConfigurationError
 */
export function layoutToRead(options: SnowflakeModuleOptions): Layout {
  const { layout } = options;
  // A file that imports the application's copy of `@raindrop/core` makes layouts of that copy's class.
  const ready = layoutOfAnyCopy(layout);
  if (ready !== undefined) return ready;
  if (!namesLayout(options)) throw new InputError(NO_LAYOUT);
  return layoutOfAnyLife({ ...layoutOptionsOf(options), ...(layout !== undefined && { layout }) }, Date.now());
}

const NO_LAYOUT =
  'no layout given: use --layout number, --preset, --config with the options of your service, or --start, ' +
  '--timestamp-bits and --worker-bits';

function without(options: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !names.includes(name)));
}

/**
 * @param choice `twitter`, or in a file also `{ name: 'tsid', nodeBits: 8 }`
 * @throws InputError for a name that is no preset; ConfigurationError for its options
 */
function presetOf(choice: unknown, more: Readonly<Record<string, unknown>>): Layout {
  const { name, ...options } =
    typeof choice === 'object' && choice !== null ? (choice as Record<string, unknown>) : { name: choice };
  const names = Object.keys(presets);
  const found =
    typeof name === 'string'
      ? (names.find((each) => each.toLowerCase() === name.toLowerCase()) as keyof typeof presets | undefined)
      : undefined;
  if (found === undefined) {
    const shown = typeof name === 'string' ? name : showValue(name);
    throw new InputError(`--preset ${shown} is unknown: use one of ${names.join(', ')}`);
  }
  const make = presets[found] as (options: object) => Layout;
  return make({ ...options, ...more });
}

/** `nodeBits=8` and the like. @throws InputError for what has no name or no value */
function presetOptionsOf(texts: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    texts.map((text) => {
      const match = /^(\w+)=(.+)$/.exec(text);
      if (match === null) throw new InputError(`--preset-option ${text} must be name=value, such as nodeBits=8`);
      return [match[1]!, numberOf(match[2]!)];
    }),
  );
}

/**
 * The layout of these options, also one that has expired: for reading IDs, and for judging how long it lasts.
 * @throws ConfigurationError naming every option that is wrong
 */
export function layoutOfAnyLife(options: LayoutOptions | ReadyLayoutOptions, nowMs: number): Layout {
  const reader = new OptionReader(options);
  const resolved = readAnyLayout(reader, nowMs);
  reader.finish();
  return resolved!.layout;
}
