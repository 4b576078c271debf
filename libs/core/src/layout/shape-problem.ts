import { ConfigurationError } from '../config/configuration-error.js';
import { MAX_DATE_MS } from '../time/timeline.js';
import type { Field, FieldRole } from './field.js';
import type { LayoutShape } from './layout-shape.js';

/** @throws ConfigurationError when no IDs can be made of the shape */
export function refuseShape(shape: LayoutShape): void {
  const problem = shapeProblem(shape);
  if (problem === undefined) return;
  const given = shape.fields.map(({ name, bits }) => `${name} ${bits}`).join(' / ');
  throw new ConfigurationError([{ option: 'layout', given, message: problem }]);
}

/** Why no IDs can be made of a shape; undefined when they can. */
export function shapeProblem({ fields, unitMs, epochMs }: LayoutShape): string | undefined {
  const widths = (role: FieldRole): number[] => fields.filter((each) => each.role === role).map(({ bits }) => bits);
  const sum = (bits: readonly number[]): number => bits.reduce((total, each) => total + each, 0);

  // Above the time, a field would put a worker's IDs outside the ranges that follow from a tick: idFloor, safeTicks.
  if (fields[0]?.role !== 'time' || widths('time').length !== 1) return 'must begin with its only time field';
  if (widths('sequence').length !== 1) return 'must have exactly one sequence field';
  if (!['', '1'].includes(widths('clockBack').join())) return 'must have at most one clock-back field, of 1 bit';
  if (!fields.every(({ bits }) => isIntegerIn(bits, 1, 64))) return 'must have fields of 1 bit or more';
  if (sum(fields.map(({ bits }) => bits)) > 64) return 'must not have more than 64 bits';
  if (Math.max(sum(widths('worker')), sum(widths('sequence')), sum(widths('fixed'))) > 53) {
    return 'must keep workers, sequences and fixed bits to 53 bits each: they are numbers';
  }
  if (!fields.every(hasFittingValue)) return 'must give its fixed fields values that fit into their bits';
  if (!isIntegerIn(unitMs, 1, MAX_DATE_MS)) return 'must have a unit of whole milliseconds, at least 1';
  if (!isIntegerIn(epochMs, -MAX_DATE_MS, MAX_DATE_MS)) return 'must have an epoch in Unix ms that a Date can hold';
  return undefined;
}

function hasFittingValue({ role, bits, value = 0 }: Field): boolean {
  return role !== 'fixed' || isIntegerIn(value, 0, 2 ** bits - 1);
}

function isIntegerIn(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
