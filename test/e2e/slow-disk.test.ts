import { expect } from 'chai';
import { describe, it } from 'mocha';
import { join } from 'node:path';
import { openDatabase } from '../../src/sqlite.ts';
import { call, eventsOf, openStream, type HttpResponse } from '../support/http/client.ts';
import { removeFolder, startService, temporaryFolder } from '../support/processes/service.ts';

const eventType = {
  name: 'disk.counted',
  owning_application: 'tests',
  category: 'undefined',
  schema: { type: 'json_schema', schema: '{"type":"object"}' },
};

/**
 * The maximum time of anything that does not need the disk while the writer is blocked, on a busy machine. The writer
 * waits longer. Milliseconds.
 */
const promptMilliseconds = 4_500;

describe('a disk that accepts a write and does not finish it', () => {
  it('delays writes, but neither streams nor reading requests', async function () {
    this.timeout(60_000);
    const folder = await temporaryFolder();
    const service = await startService(folder);
    const { url } = service;
    const sendRequest = (path: string, method = 'GET', body?: unknown): Promise<HttpResponse> =>
      call(`${url}${path}`, method, body);
    const publish = (number: number): Promise<HttpResponse> => {
      return sendRequest(`/event-types/${eventType.name}/events`, 'POST', [{ number }]);
    };
    // The writer thread waits for this lock inside SQLite, as it would for a disk, for at most five seconds.
    const holder = openDatabase(join(folder, 'log.db'));
    try {
      expect((await sendRequest('/event-types', 'POST', eventType)).status).to.equal(201);
      const { body: subscription } = await sendRequest('/subscriptions', 'POST', {
        owning_application: 'tests',
        event_types: [eventType.name],
        read_from: 'begin',
      });
      const id = String(subscription['id']);
      for (let number = 0; number < 20; number += 1) expect((await publish(number)).status).to.equal(200);
      const query = '?batch_limit=5&batch_flush_timeout=1&max_uncommitted_events=1000';
      const first = await openStream(url, id, query);
      await first.until((batches) => eventsOf(batches).length === 20);
      first.close();

      holder.exec('BEGIN IMMEDIATE');
      const heldSince = performance.now();
      let isWritten = false;
      const written = publish(20).then((response) => {
        isWritten = true;
        return response;
      });
      const paths = ['/health', '/ready', '/event-types', `/subscriptions/${id}/stats`, '/loans', '/loanproducts'];
      const statuses = await Promise.all(paths.map(async (path) => (await sendRequest(path)).status));
      const second = await openStream(url, id, query);
      await second.until((batches) => eventsOf(batches).length === 20);
      const readMilliseconds = performance.now() - heldSince;
      const wasWritten = isWritten;
      holder.exec('ROLLBACK');

      expect(statuses).to.deep.equal(paths.map(() => 200));
      expect(wasWritten).to.equal(false);
      expect(readMilliseconds).to.be.lessThan(promptMilliseconds);
      expect((await written).status).to.equal(200);
      await second.until((batches) => eventsOf(batches).length === 21);
      expect(eventsOf(second.batches).map(({ number }) => number)).to.deep.equal(
        Array.from({ length: 21 }, (_, number) => number),
      );
      second.close();
    } finally {
      holder.close();
      await service.stop();
      await removeFolder(folder);
    }
  });
});
