import { Scope, type DynamicModule, type InjectionToken, type Provider } from '@nestjs/common';
import { ConfigurationError } from '@raindrop/core';
import { DEFAULT_SERVICE, noteCopy, otherCopies, tellCopies, type Copy } from '@raindrop/node/internal';
import { resolve } from 'node:path';
import { IdService } from '../id.service.js';
import { getIdServiceToken } from './raindrop.tokens.js';

interface NestCopy extends Copy {
  /** The token of its default service. */
  readonly IdService: typeof IdService;
}

const NAME = '@raindrop/nestjs';
const own: NestCopy | undefined = noteCopy(NAME, () => resolve(__dirname, '../..'), { IdService });

/**
 * Makes the default service of a module injectable by the `IdService` of other copies of this package, too. Another
 * version of it is refused, as soon as somebody injects it. Services with a name have one token in all copies.
 */
export function forOtherCopies(definition: DynamicModule, name: string = DEFAULT_SERVICE): DynamicModule {
  if (name !== DEFAULT_SERVICE) return definition;
  const { providers = [], exports = [] } = definition;
  return {
    ...definition,
    // Nest reads these when it puts the application together: every copy is loaded by then.
    get providers() {
      return [...providers, ...copiesOfServices().map(serviceFor)];
    },
    get exports() {
      return [...exports, ...copiesOfServices().map((copy) => copy.IdService)];
    },
  };
}

/** The tokens of a service in all copies. */
export function tokensOf(name: string): InjectionToken[] {
  const token = getIdServiceToken(name);
  return token === IdService ? [IdService, ...copiesOfServices().map((copy) => copy.IdService)] : [token];
}

/** Whether it is a service of this copy, or of another one. */
export function isIdService(instance: unknown): instance is IdService {
  return [{ IdService }, ...copiesOfServices()].some((copy) => instance instanceof copy.IdService);
}

/** Says which copies there are, where there are several. */
export function tellNestCopies(): string | undefined {
  const others = copiesOfServices();
  return own === undefined || others.length === 0 ? undefined : tellCopies(NAME, [own, ...others]);
}

function copiesOfServices(): NestCopy[] {
  return otherCopies<NestCopy>(NAME, own);
}

function serviceFor(copy: NestCopy): Provider {
  if (copy.version === own?.version) return { provide: copy.IdService, useExisting: IdService };
  // Made when it is injected, and only then.
  return { provide: copy.IdService, scope: Scope.TRANSIENT, useFactory: () => refuse(copy) };
}

/** @throws ConfigurationError */
function refuse({ version }: Copy): never {
  const message =
    `is the class of another version of the package than RaindropModule, whose service may lack what it has: ` +
    tellNestCopies();
  throw new ConfigurationError([{ option: 'IdService', given: `that of ${NAME} ${version}`, message }]);
}
