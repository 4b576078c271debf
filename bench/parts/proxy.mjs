// A TCP proxy before a server: counts round trips, and puts the server at a distance.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/**
 * @param url where the server is
 * @param {{ roundTripMs?: number }} options how much longer a round trip takes; half of it each way
 * @returns `url`, the same by way of the proxy; `trips()`, how often a client has spoken after it had been answered; `stop()`
 */
export async function openProxy(url, { roundTripMs = 0 } = {}) {
  const { hostname: host, port } = new URL(url);
  const sockets = new Set();
  let trips = 0;
  const server = createServer((client) => {
    const upstream = connect({ host, port });
    let isAnswered = true;
    const spoken = () => {
      if (isAnswered) trips++;
      isAnswered = false;
    };
    pass(client, upstream, { delayMs: roundTripMs / 2, onData: spoken });
    pass(upstream, client, { delayMs: roundTripMs / 2, onData: () => (isAnswered = true) });
    for (const socket of [client, upstream]) sockets.add(socket.setNoDelay());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.host = `127.0.0.1:${server.address().port}`;
  return {
    url: through.href,
    trips: () => trips,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function pass(from, to, { delayMs, onData }) {
  from.on('data', (data) => {
    onData();
    if (delayMs === 0) to.write(data);
    // Timers of one length fire in the order in which they were set.
    else setTimeout(() => to.write(data), delayMs);
  });
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
}
