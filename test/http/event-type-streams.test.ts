import { after, before, describe, it } from 'mocha';
import { expectAllAfterPause, pausedBatchEvents } from '../support/paused-reader.ts';
import { startStreamServer, type StreamServer } from '../support/stream-server.ts';

describe('GET /event-types/{name}/events', () => {
  let server: StreamServer;

  before(async () => {
    server = await startStreamServer();
  });

  after(() => server.stop());

  for (const encoding of ['identity', 'gzip']) {
    it(`sends everything, and then keep-alives, to a reader that stopped reading for a while (${encoding})`, async () => {
      const type = await server.defineEventType(1);
      const client = await server.openEventType(type, {
        query: `?batch_limit=${pausedBatchEvents}&batch_flush_timeout=1`,
        headers: { 'Accept-Encoding': encoding },
        paused: true,
      });
      await expectAllAfterPause(server, client, type);
      client.destroy();
    });
  }
});
