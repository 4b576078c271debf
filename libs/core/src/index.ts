export { RaindropError } from './raindrop-error.js';

export { ConfigurationError, type ConfigurationProblem } from './config/configuration-error.js';
export { OptionReader, type IntegerRule } from './config/option-reader.js';

export type { Clock, MonotonicClock } from './time/clock.js';
export type { Timer, Timers } from './time/timers.js';
export type { Randomness } from './time/randomness.js';
export { TIME_UNITS, type TimeUnit, type TimeUnitRule } from './time/time-unit.js';
export { Timeline } from './time/timeline.js';

export type { Field, FieldRole, PlacedField } from './layout/field.js';
export { Layout, type LayoutParts, type LayoutShape } from './layout/layout.js';
export {
  createLayout,
  readLayout,
  resolveLayout,
  type LayoutOptions,
  type ResolvedLayout,
  type WorkerRange,
} from './layout/layout-options.js';
export type { LayoutUse, LayoutWarning } from './layout/layout-warnings.js';
export { ClockBeforeEpochError, InvalidPartError, TimestampOverflowError } from './layout/layout-errors.js';
