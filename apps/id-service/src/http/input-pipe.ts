import { ValidationPipe, type ArgumentMetadata } from '@nestjs/common';
import { getMetadataStorage, type ValidationError } from 'class-validator';
import { demandUsualShape } from './input-shape.js';
import { ProblemException } from '../problems/problem.exception.js';

/** So much that is wrong is named in one answer. */
const MOST_NAMED = 10;

/** Checks bodies, queries and messages against their classes; the 400 says what is legal for the fields that are wrong. */
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
        const wrong = errors.flatMap((error) => describe(error));
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

/** What is wrong, put into words when it is asked for. */
function describe({ property, constraints = {}, children = [], target }: ValidationError, path = ''): (() => string)[] {
  const own = Object.entries(constraints).map(([constraint, message]) => () => {
    if (constraint !== 'whitelistValidation') return `${path}${message}`;
    return `${path}${shortened(property)} is not known here; legal: ${fieldsOf(target).join(', ')}`;
  });
  const place = /^\d+$/.test(property) ? `${path.slice(0, -1)}[${property}].` : `${path}${property}.`;
  return [...own, ...children.flatMap((child) => describe(child, place))];
}

function fieldsOf(target: object | undefined): string[] {
  if (target === undefined) return [];
  const rules = getMetadataStorage().getTargetValidationMetadatas(target.constructor, '', false, false);
  return [...new Set(rules.map(({ propertyName }) => propertyName))];
}

function shortened(name: string): string {
  return JSON.stringify(name.slice(0, 48));
}
