import { Inject, Injectable } from '@nestjs/common';
import { networkOf } from './client-address.js';
import { ProblemException } from '../problems/problem.js';
import { SERVICE_CONFIG, type ServiceConfig } from '../service-config.js';
import { ApiKeys } from './api-keys.js';

/** The caller that brings a new name. */
interface Bringer {
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
    this.codes = new NewNames(CODES, new Set(knownCodes));
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

/** A bound for names of one kind. */
interface NewNamesRule {
  /** The kind of names, such as `codes`. */
  readonly what: string;
  readonly most: number;
  /** From one address (IPv6: from one network of 64 bits). */
  readonly mostOfOne: number;
  /** After this time as many may come again; Infinity: never. */
  readonly everyMs: number;
}

/** Names that any client may bring and the service keeps: bounded, so that one client does not use up the room. */
class NewNames {
  private readonly names = new Set<string>();
  private readonly counts = new Map<string, number>();
  private endsAt = -Infinity;

  /** @param known they may always come */
  constructor(
    private readonly rule: NewNamesRule,
    private readonly known: ReadonlySet<string> = new Set(),
  ) {}

  /** Whether a name need not be admitted any more. */
  has(name: string): boolean {
    return this.names.has(name) || this.known.has(name);
  }

  /** @throws ProblemException 429 when there are too many */
  admit(name: string, address: string): void {
    const { most, mostOfOne, everyMs, what } = this.rule;
    const now = performance.now();
    if (now >= this.endsAt) {
      this.names.clear();
      this.counts.clear();
      this.endsAt = now + everyMs;
    }
    if (this.has(name)) return;
    const network = networkOf(address);
    const count = (this.counts.get(network) ?? 0) + 1;
    if (count > mostOfOne) throw this.tooMany(`${mostOfOne} new ${what} from one address`);
    if (this.names.size >= most) throw this.tooMany(`${most} new ${what}`);
    this.counts.set(network, count);
    this.names.add(name);
  }

  private tooMany(what: string): ProblemException {
    const retryAfterSeconds = Math.ceil((this.endsAt - performance.now()) / 1_000);
    const passes = Number.isFinite(retryAfterSeconds);
    const way = passes ? `, or try again in ${retryAfterSeconds} s` : '';
    const detail = `More than ${what}. Use existing names or an API key${way}.`;
    const told = { errorCode: 'TOO_MANY_NEW_NAMES', detail, retryable: passes };
    return new ProblemException(429, passes ? { ...told, retryAfterSeconds } : told);
  }
}
