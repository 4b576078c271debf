/** A key as NATS takes it: what it does not take is written as `=` and two hexadecimal digits. */
export function natsKeyOf(key: string): string {
  return key.replace(/[^\w./-]/g, (sign) => `=${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

export function keyOfNats(natsKey: string): string {
  return natsKey.replace(/=([\da-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
