import { clientAddress, networkOf } from './client-address.js';

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:4711', '192.0.2.1'],
  ['2001:db8::1', '2001:db8::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
])('%s is the client %s', (ip, address) => {
  expect(clientAddress({ ip })).toBe(address);
});

it.each(['unknown', '', '192.0.2.300', '192.0.2.1:', '192.0.2.1:x', '[192.0.2.1', '_hidden', 'x'.repeat(9_000)])(
  '%.20s is no client',
  (ip) => {
    expect(() => clientAddress({ ip })).toThrow('X-Forwarded-For must contain IP addresses');
  },
);

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:DB8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64'],
  ['2001:db8:0:1::', '2001:db8:0:1::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8::', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
  ['', ''],
  ['no address', 'no address'],
])('%s stands for %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
