import { Inject, Injectable } from '@nestjs/common';
import { SERVICE_CONFIG } from '../service-config.token.js';
import type { ServiceConfig } from '../service-config.js';
import { ApiKeys } from './api-keys.js';
import { NewNames } from './new-names.js';

/** Who brings a name. */
export interface Bringer {
  readonly key: string | undefined;
  readonly address: () => string;
}

/** A process keeps 10,000 codes, each for as long as it is used. */
const CODES = { what: 'codes', most: 2_000, mostOfOne: 500, everyMs: 3_600_000 };

/** A tenant is a row that stays. */
const TENANTS = { what: 'tenants', most: 1_000, mostOfOne: 100, everyMs: Infinity };

/** Bounds the codes and tenants that are new, unless who brings them has an API key for calls. */
@Injectable()
export class StrangersNames {
  private readonly codes: NewNames;
  private readonly tenants = new NewNames(TENANTS);

  constructor(
    private readonly keys: ApiKeys,
    @Inject(SERVICE_CONFIG) { knownCodes }: Pick<ServiceConfig, 'knownCodes'>,
  ) {
    this.codes = new NewNames({ ...CODES, known: knownCodes });
  }

  /** Whether a code need not be admitted. */
  knowsCode(code: string): boolean {
    return this.codes.has(code);
  }

  /** @throws ProblemException 429 for one code too many */
  admitCode(code: string | undefined, bringer: Bringer): void {
    if (code !== undefined) this.admit(this.codes, code, bringer);
  }

  /** @throws ProblemException 429 for one tenant too many */
  admitTenant(tenant: string | undefined, bringer: Bringer): void {
    if (tenant !== undefined) this.admit(this.tenants, tenant, bringer);
  }

  private admit(names: NewNames, name: string, { key, address }: Bringer): void {
    if (names.has(name) || this.keys.areForAll || this.keys.accepts(key)) return;
    names.admit(name, address());
  }
}
