import { base58 } from './codecs.js';

describe('base58', () => {
  it.each([
    // Bitcoin Core, src/test/data/base58_encode_decode.json: the rows below eight bytes without a leading zero byte.
    ['61', '2g'],
    ['626262', 'a3gV'],
    ['636363', 'aPEr'],
    ['516b6fcd0f', 'ABnLTmg'],
    ['572e4794', '3EFU7m'],
    ['10c8511e', 'Rt5zm'],
  ])('writes the bytes %s as %s', (bytes, text) => {
    const id = BigInt(`0x${bytes}`);
    expect(base58.encode(id)).toBe(text);
    expect(base58.decode(text)).toBe(id);
    expect(base58.padded.encode(id)).toBe(text.padStart(11, '1'));
  });
});
