/** What stands for a role beside its colour. */
const LETTERS = { time: 'T', worker: 'W', clockBack: 'B', sequence: 'S', fixed: 'E', sign: '±' };

const NAMES = { clockBack: 'Clock-back', end: 'End' };

export function letterOf(role) {
  return LETTERS[role];
}

/** A field's name as a heading. */
export function nameOf({ name }) {
  return NAMES[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
}
