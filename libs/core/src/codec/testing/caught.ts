/** The error that `act` throws; fails when it is of another class or there is none. */
export function caught<E extends Error>(type: new (...args: never[]) => E, act: () => unknown): E {
  try {
    act();
  } catch (error) {
    if (error instanceof type) return error;
    throw error;
  }
  throw new Error(`expected ${type.name}, but nothing was thrown`);
}
