/** An integer of at most 2^53 - 1 in whichever form the driver gave it; undefined when it is anything else. */
export function safeInteger(value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^-?\d{1,16}$/.test(value);
  const number = isText || typeof value === 'bigint' ? Number(value) : value;
  return Number.isSafeInteger(number) ? (number as number) : undefined;
}
