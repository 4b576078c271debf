/** For how long an answer asks not to be asked again, ms; undefined when it does not say so in a legal way. */
export function retryAfterMs(headers: Headers): number | undefined {
  const given = headers.get('retry-after');
  if (given === null) return undefined;
  const ms = /^\d{1,9}$/.test(given) ? Number(given) * 1_000 : untilDate(given, headers.get('date'));
  return ms >= 0 ? ms : undefined;
}

/** By the sender's own clock, which may not be ours. */
function untilDate(given: string, sent: string | null): number {
  return sent === null ? Number.NaN : Date.parse(given) - Date.parse(sent);
}
