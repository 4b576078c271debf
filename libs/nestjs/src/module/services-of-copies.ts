import { type DynamicModule, type InjectionToken, type OnModuleInit, type Provider, Scope } from '@nestjs/common';
import { resolve } from 'node:path';
import { ModulesContainer } from '@nestjs/core';
import { ConfigurationError } from '@raindrop/core';
import { type Copy, DEFAULT_SERVICE, registerCopy, otherCopies, describeCopies } from '@raindrop/node/internal';
import { IdService } from '../id.service.js';
import { getIdServiceToken, RAINDROP_OPTIONS } from './raindrop.tokens.js';

interface NestCopy extends Copy {
  /** The token of its default service. */
  readonly IdService: typeof IdService;
}

const NAME = '@raindrop/nestjs';
const own: NestCopy | undefined = registerCopy(NAME, () => resolve(__dirname, '../..'), { IdService });

/**
 * Makes the default service of a module injectable by the `IdService` classes of other copies of this package as well.
 * A class of another version is refused where it is injected, and where `get()` names it. Services with a name have one token in all copies.
 */
export function forOtherCopies(definition: DynamicModule, name: string = DEFAULT_SERVICE): DynamicModule {
  if (name !== DEFAULT_SERVICE) return definition;
  const { providers = [], exports = [] } = definition;
  return {
    ...definition,
    // Nest reads these when it puts the application together: every copy is loaded by then.
    get providers() {
      return [...providers, ...copiesOfServices().flatMap(servicesFor)];
    },
    get exports() {
      return [...exports, ...copiesOfServices().map((copy) => copy.IdService)];
    },
  };
}

/** The tokens of a service in all copies. */
function tokensOf(name: string): InjectionToken[] {
  const token = getIdServiceToken(name);
  return token === IdService ? [IdService, ...copiesOfServices().map((copy) => copy.IdService)] : [token];
}

/** Whether it is a service of this copy of the package, or of another one. */
export function isIdService(instance: unknown): instance is IdService {
  return [{ IdService }, ...copiesOfServices()].some((copy) => instance instanceof copy.IdService);
}

/** Names the copies; undefined when there is only this one. */
function describeNestCopies(): string | undefined {
  const others = copiesOfServices();
  return own === undefined || others.length === 0 ? undefined : describeCopies(NAME, [own, ...others]);
}

function copiesOfServices(): NestCopy[] {
  return otherCopies<NestCopy>(NAME, own);
}

function servicesFor(copy: NestCopy): Provider[] {
  if (copy.version === own?.version) return [{ provide: copy.IdService, useExisting: IdService }];
  return [
    // The factory runs when the class is injected, and only then.
    { provide: copy.IdService, scope: Scope.TRANSIENT, useFactory: () => refuse(copy) },
    {
      provide: Symbol('RAINDROP_REFUSED_GETS'),
      inject: [ModulesContainer],
      useFactory: (modules: ModulesContainer) => new RefusedGets(modules, copy),
    },
  ];
}

/**
 * Makes `app.get()` and `moduleRef.get()` throw what an injection throws. Of a transient provider Nest says "scoped
 * provider, use resolve()" instead. `get()` reads the provider's scope first. What looks through all providers, as
 * packages of schedules do, reads the other three properties, which answer as those of a transient provider.
 */
class RefusedGets implements OnModuleInit {
  constructor(
    private readonly modules: ModulesContainer,
    private readonly copy: NestCopy,
  ) {}

  /** Every injection of the start is over by now. */
  onModuleInit(): void {
    for (const { providers } of this.modules.values()) {
      const provider = providers.get(this.copy.IdService);
      if (provider === undefined) continue;
      Object.defineProperties(provider, {
        scope: { get: () => refuse(this.copy), configurable: true },
        isTransient: { value: true, configurable: true },
        isDependencyTreeStatic: { value: () => true, configurable: true },
        instance: { value: undefined, configurable: true },
      });
    }
  }
}

/** @throws ConfigurationError */
function refuse({ version }: Copy): never {
  const message =
    `comes from another version of the package than RaindropModule, so the service may lack its methods: ` +
    describeNestCopies();
  throw new ConfigurationError([{ option: 'IdService', given: `that of ${NAME} ${version}`, message }]);
}

/**
 * Refuses two global services of one name: a provider that injects it could get either. It runs before a worker id is
 * acquired.
 * @throws ConfigurationError
 */
export function refuseSecondImport(modules: ModulesContainer, name: string): void {
  const tokens = tokensOf(name);
  const ours = [...modules.values()].filter(
    ({ isGlobal, providers }) =>
      isGlobal && providers.has(RAINDROP_OPTIONS) && tokens.some((token) => providers.has(token)),
  );
  if (ours.length < 2) return;
  const message =
    `is taken: RaindropModule is registered ${ours.length} times under this name. Call forRoot or forRootAsync once ` +
    `for each service and give the others a name (name: 'orders'), or limit each to its importers with isGlobal: ` +
    `false`;
  const copies = describeNestCopies();
  throw new ConfigurationError([
    {
      option: 'name',
      given: JSON.stringify(name),
      message: copies === undefined ? message : `${message}. There are two copies: ${copies}`,
    },
  ]);
}
