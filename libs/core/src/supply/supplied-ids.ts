import { CallsByCode } from '../generator/calls-by-code.js';
import type { IdCalls } from '../generator/id-calls.js';
import type { IssuedByCode, IssuedByCodeOptions } from '../generator/issued-by-code.js';
import type { RaindropError } from '../raindrop-error.js';
import type { SuppliedCodes } from './supplied-codes.js';
import { SuppliedOutputs } from './supplied-outputs.js';
import type { Supply } from './supply.js';
import type { SupplyContext } from './supply-context.js';

/** IDs that are fetched ahead of need, for every code. */
export abstract class SuppliedIds<One extends Supply> extends CallsByCode<One, SuppliedCodes<One>> implements IdCalls {
  constructor(codes: SuppliedCodes<One>, ctx: SupplyContext) {
    super(codes, new SuppliedOutputs(ctx));
  }

  // The calls for one ID stand here as well as in the base class, whose code all engines share: V8 makes this a fifth
  // faster where a process has several. `segment-generator.spec.ts` compares both.

  override nextId(code?: string): bigint {
    return this.codes.of(code).next();
  }

  override nextString(code?: string): string {
    return this.codes.of(code).nextText();
  }

  refusal(code?: string): RaindropError | undefined {
    return this.codes.refusal(code, (name) => this.notReady(name));
  }

  issuedByCode(options?: IssuedByCodeOptions): IssuedByCode {
    return this.codes.count(options);
  }

  /** How the codes in use stand, in the order in which they came; IDs without a code, where they have a supply, come first. */
  status(): One['status'][] {
    return Array.from(this.codes, ({ status }) => status);
  }

  /** Call it when this process may be a copy of another: what is at hand or under way is never used. */
  afterRestore(): void {
    for (const each of this.codes) each.forget();
  }

  /** Why nobody can have an ID of a code that is not in use yet. */
  protected abstract notReady(code: string): RaindropError;
}
