import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { overBothPorts, sqlDatabase } from '../../../../test/support/stores/sql-database.js';
import { until } from '../../../../test/support/until.js';
import { OwnDatabase } from './own-database.js';

overBothPorts(() => {
  describe.each(['mariadb', 'postgres'])('a database of type %s that says nothing', (type) => {
    const sockets = new Set<Socket>();
    let server: Server;
    beforeEach(async () => {
      server = createServer((socket) => void sockets.add(socket.on('error', () => undefined).resume()));
      await once(server.listen(0, '127.0.0.1'), 'listening');
    });
    afterEach(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });

    it('is closed at once while a connection to it is being made', async () => {
      const { port } = server.address() as AddressInfo;
      const options = { type, host: '127.0.0.1', port, username: 'shop', password: 'shop', database: 'shop' };
      // Nothing ends by itself within the test.
      const database = new OwnDatabase(sqlDatabase(options), { opTimeoutMs: 120_000 });
      let failed = false;
      database.call((run) => run('SELECT 1')).catch(() => (failed = true));
      await until('the connection', () => sockets.size > 0);
      let isClosed = false;
      void database.close().then(() => (isClosed = true));
      await until('the end of close()', () => isClosed);
      await until('the end of the call', () => failed);
    });
  });
});
