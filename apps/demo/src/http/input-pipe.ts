import { ValidationPipe } from '@nestjs/common';
import { getMetadataStorage, type ValidationError } from 'class-validator';
import { ProblemException } from './problem.exception.js';

/** Checks bodies and queries against their classes; the 400 says, for every field that is wrong, what is legal. */
export function inputPipe(): ValidationPipe {
  return new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    stopAtFirstError: true,
    // The class that lists the legal fields; it never leaves the process.
    validationError: { target: true, value: false },
    exceptionFactory: (errors) => {
      const detail = errors.flatMap((error) => describe(error)).join('; ');
      return new ProblemException(400, { errorCode: 'INVALID_INPUT', detail });
    },
  });
}

function describe({ property, constraints = {}, children = [], target }: ValidationError, path = ''): string[] {
  const own = Object.entries(constraints).map(([constraint, message]) => {
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
