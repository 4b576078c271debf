import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { startServiceProcess } from './service-process.js';

describe.each(['mariadb', 'postgres'])('An ID service that starts on a %s which says nothing', (kind) => {
  it('ends soon when it is told to', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).resume();
    });
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    let pid: number | undefined;
    const starting = startServiceProcess({
      databaseUrl: `${kind}://shop:secret@127.0.0.1:${port}/shop`,
      onSpawn: (id) => (pid = id),
    });
    await Promise.all([
      // Of its own accord it would end with 1, after eight tries.
      expect(starting).rejects.toThrow('main.js ended with 0'),
      once(silent, 'connection').then(() => process.kill(pid!, 'SIGTERM')),
    ]);
    for (const each of sockets) each.destroy();
    silent.close();
  });
});
