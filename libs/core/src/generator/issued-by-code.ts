import { OptionReader } from '../config/option-reader.js';
import { isCode, type CodeTable, type CodeWatcher } from './code-table.js';
import type { Sequencer } from './sequencer.js';

/** Every code that is counted apart becomes a series of somebody's: they must stay few. */
const MAX_CODES = 500;

/** Which codes are counted apart. */
export interface IssuedByCodeOptions {
  /** These in any case, at most 500, from 0 on before their first use. Default none. */
  readonly codes?: readonly string[];
  /** So many more, the first ones that are used. 0-500, default 20. */
  readonly firstCodes?: number;
}

/** IDs issued since the start; the three parts add up to the total. */
export interface IssuedCounts {
  /** Without a code. */
  readonly plain: number;
  /** Under each code that is counted apart. */
  readonly byCode: ReadonlyMap<string, number>;
  /** Under all other codes together. */
  readonly others: number;
}

/**
 * IDs issued by code, for metrics. Issuing pays nothing for it; a read takes 0.1 ms, however many codes there are.
 *
 * A code that is counted apart stays so, also when the generator drops it for want of room and it comes back. What was
 * issued under a code that had been dropped before the counting began is among the others. So no number ever goes down,
 * and none goes from one part to another.
 */
export class IssuedByCode {
  private readonly apart = new Map<string, { evicted: number; current: Sequencer | undefined }>();
  private readonly watcher: CodeWatcher = {
    came: (code, fresh) => {
      const known = this.apart.get(code);
      if (known !== undefined) known.current = fresh;
      else if (this.apart.size < this.room) this.apart.set(code, { evicted: 0, current: fresh });
    },
    gone: (code, evicted) => {
      const known = this.apart.get(code);
      if (known === undefined) return;
      known.evicted += evicted.issued;
      known.current = undefined;
    },
  };
  private readonly room: number;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(
    private readonly table: CodeTable,
    options: IssuedByCodeOptions = {},
  ) {
    const { codes, firstCodes } = resolve(options);
    for (const code of codes) this.apart.set(code, { evicted: 0, current: table.peek(code) });
    this.room = this.apart.size + firstCodes;
    for (const code of table.codes()) {
      if (this.apart.size >= this.room) break;
      if (!this.apart.has(code)) this.apart.set(code, { evicted: 0, current: table.peek(code) });
    }
    table.watchers.add(this.watcher);
  }

  /**
   * How many reads in a row it takes until one leaves out nothing that was issued before the first: 1 with fewer than
   * 10,000 codes. Only among the others something can be missing for a while.
   */
  get reads(): number {
    return this.table.total.reads;
  }

  read(): IssuedCounts {
    const { total, plain } = this.table;
    const byCode = new Map<string, number>();
    let apart = total.take(plain);
    for (const [code, { evicted, current }] of this.apart) {
      const issued = evicted + (current === undefined ? 0 : total.take(current));
      byCode.set(code, issued);
      apart += issued;
    }
    return { plain: plain.issued, byCode, others: total.read() - apart };
  }

  /** Ends the counting: what is read after it is of no use. */
  stop(): void {
    this.table.watchers.delete(this.watcher);
  }
}

function resolve(options: IssuedByCodeOptions): { codes: readonly string[]; firstCodes: number } {
  const reader = new OptionReader(options);
  const codes = reader.value('codes') ?? [];
  const firstCodes = reader.integer('firstCodes', { min: 0, max: MAX_CODES, default: 20 });
  if (!Array.isArray(codes) || codes.length > MAX_CODES) {
    reader.problem('codes', codes, `must be a list of at most ${MAX_CODES} codes`);
  } else {
    const wrong = codes.findIndex((code) => !isCode(code));
    if (wrong >= 0) reader.problem('codes', codes[wrong], 'must be texts of 1 to 128 characters');
  }
  reader.finish();
  return { codes: codes as string[], firstCodes };
}
