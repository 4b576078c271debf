import { ValidationPipe, type ArgumentMetadata } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { getMetadataStorage, IsInt, type ValidationError } from 'class-validator';
import { ProblemException } from '../problems/problem.js';
import { readCount, type CountRange } from './counts.js';

/** How many mistakes one answer names. */
const MOST_NAMED = 10;

/** Nest's pipe for bodies and queries, after a look at their shape; the 400 says what is legal for wrong fields. */
export class InputPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      whitelist: true,
      forbidNonWhitelisted: true,
      stopAtFirstError: true,
      // The class that lists the legal fields; it never leaves the process.
      validationError: { target: true, value: false },
      exceptionFactory: (errors) => {
        const wrong = errors.flatMap(describe);
        const named = wrong.slice(0, MOST_NAMED).map((each) => each());
        const others = wrong.length - named.length;
        const detail = [...named, ...(others > 0 ? [`and ${others} more`] : [])].join('; ');
        return new ProblemException(400, { errorCode: 'INVALID_INPUT', detail });
      },
    });
  }

  override async transform(input: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    demandUsualShape(input);
    return super.transform(input, metadata);
  }
}

/** Describes the mistakes, each only on demand. */
function describe({ property, constraints = {}, target }: ValidationError): (() => string)[] {
  return Object.entries(constraints).map(([constraint, message]) => () => {
    if (constraint !== 'whitelistValidation') return message;
    return `${JSON.stringify(property.slice(0, 48))} is unknown; legal: ${fieldsOf(target).join(', ')}`;
  });
}

function fieldsOf(target: object | undefined): string[] {
  if (target === undefined) return [];
  const rules = getMetadataStorage().getTargetValidationMetadatas(target.constructor, '', false, false);
  return [...new Set(rules.map(({ propertyName }) => propertyName))];
}

/** No further than this is anything looked at that a client sends. The deepest of ours is 2 deep. */
const DEEPEST = 32;
const MOST_MEMBERS = 64;
const MOST_ELEMENTS = 128;
const MOST_VALUES = 512;

/**
 * Judges the shape of what JSON.parse made, before anything reads it that takes long for what is large, or calls itself
 * for what is deep.
 *
 * @throws ProblemException 400 that names the limit
 */
function demandUsualShape(input: unknown): void {
  if (valuesIn(input, 1) > MOST_VALUES) throw unusual(`${MOST_VALUES} values in total`);
}

/** Stops soon after there are too many. */
function valuesIn(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  if (depth > DEEPEST) throw unusual(`values no deeper than ${DEEPEST}`);
  const [inner, most, legal]: [unknown[], number, string] = Array.isArray(value)
    ? [value, MOST_ELEMENTS, `lists of at most ${MOST_ELEMENTS} elements`]
    : [Object.values(value), MOST_MEMBERS, `objects of at most ${MOST_MEMBERS} members`];
  if (inner.length > most) throw unusual(legal);
  let values = 1;
  for (const each of inner) {
    values += valuesIn(each, depth + 1);
    if (values > MOST_VALUES) break;
  }
  return values;
}

function unusual(legal: string): ProblemException {
  return new ProblemException(400, { errorCode: 'INVALID_INPUT', detail: `the body may have ${legal}` });
}

/** A `count` in a query; the property's initial value stands in when it is not given. */
export function QueryCount(range: CountRange): PropertyDecorator {
  const { min, max } = range;
  return (target, property) => {
    const decorators = [
      ApiPropertyOptional({ type: 'integer', minimum: min, maximum: max, default: range.default }),
      Transform(({ value }: { value: unknown }) => readCount(value, range) ?? NaN),
      IsInt({ message: `${String(property)} must be an integer from ${min} to ${max}` }),
    ];
    for (const decorate of decorators) decorate(target, property);
  };
}
