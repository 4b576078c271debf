/** The codes that the service counts. A request cannot add others: every code is a row that stays. */
export const NUMBER_CODES = ['order', 'invoice', 'ticket'] as const;

export type NumberCode = (typeof NUMBER_CODES)[number];

/** The name of the service of numbers: the one without a name issues snowflakes. */
export const NUMBERS = 'numbers';
