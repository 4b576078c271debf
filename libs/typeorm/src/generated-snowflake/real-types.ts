/** What a column's real type does to IDs. */
export interface RealTypeFault {
  readonly problem: string;
  /** False where IDs come back as they were, and something else is wrong. */
  readonly isCertain: boolean;
  /** Whether small numbers fit. */
  readonly holdsSmall: boolean;
}

const INTEGER_BITS: Readonly<Record<string, number>> = { tiny: 7, small: 15, medium: 23, big: 63, '': 31 };

/**
 * Judges a type as the database's catalogue spells it: `int(10) unsigned`, `character varying(12)`, `numeric(20,0)`.
 * Types that are not known here are taken for good.
 * @param largest the largest ID that the column may have to hold
 */
export function realType(spelled: string, database: string, largest: bigint): RealTypeFault | undefined {
  const type = spelled.toLowerCase();
  return database === 'better-sqlite3' ? sqliteFault(type) : (integerFault(type, largest) ?? otherFault(type, largest));
}

/** SQLite has affinities instead of types. An integer has 64 bits, whatever it is called. */
function sqliteFault(type: string): RealTypeFault | undefined {
  if (/int/.test(type)) return undefined;
  if (/real|floa|doub/.test(type)) return rounds;
  return type === '' || /char|clob|text|blob/.test(type) ? text : undefined;
}

function integerFault(type: string, largest: bigint): RealTypeFault | undefined {
  const [, size] = /^(tiny|small|medium|big|)int(?:eger)?\b/.exec(type) ?? [];
  if (size === undefined) return undefined;
  const most = 2n ** BigInt(INTEGER_BITS[size]! + (type.includes('unsigned') ? 1 : 0)) - 1n;
  if (largest <= most) return undefined;
  const problem = `which holds no more than ${most}: the database refuses greater IDs, or stores ${most} in their place (MySQL in a lenient mode)`;
  return { problem, isCertain: true, holdsSmall: true };
}

function otherFault(type: string, largest: bigint): RealTypeFault | undefined {
  const digits = largest.toString().length;
  if (/^(float|double|real)/.test(type)) return rounds;
  if (/^(uuid|bytea|binary|varbinary|bit|date|time|boolean|json)/.test(type)) {
    return { problem: 'which holds no IDs', isCertain: true, holdsSmall: false };
  }
  const [, precision, scale = '0'] = /^(?:decimal|numeric)\((\d+)(?:,(\d+))?\)/.exec(type) ?? [];
  if (precision !== undefined && Number(precision) - Number(scale) < digits) return short(digits);
  if (!/char|text/.test(type)) return undefined;
  const [, length] = /\((\d+)\)/.exec(type) ?? (/^char(acter)?$/.test(type) ? ['', '1'] : []);
  return length !== undefined && Number(length) < digits ? short(digits) : text;
}

const rounds: RealTypeFault = { problem: 'which rounds IDs', isCertain: true, holdsSmall: true };

const text: RealTypeFault = {
  problem: 'where IDs are compared letter by letter: ranges and the order are wrong',
  isCertain: false,
  holdsSmall: true,
};

function short(digits: number): RealTypeFault {
  return { problem: `too short for IDs of ${digits} digits`, isCertain: true, holdsSmall: true };
}
