import { expect } from 'chai';
import { describe, it } from 'mocha';
import { statfsSync } from 'node:fs';
import { eventTypeBody, exampleMetadata } from '../../support/broker-on-embedded-log.ts';
import { eventually } from '../../support/eventually.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';
import { startService, type Service } from '../../support/processes/service.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';
import { startProgram } from '../../command-line/started-program.ts';

const mebibyte = 1024 * 1024;

/** What the store keeps free for its own work. Bytes. */
const reserveBytes = 64 * mebibyte;

interface AuditRecord {
  readonly stage: string;
  readonly subject: { readonly name: string | null };
  readonly status?: number;
}

describe('the audit on a disk that is full', function () {
  this.timeout(120_000);

  it('refuses changes below the reserve in its own code, with nothing half done, and none above it', async function () {
    const disk = await mountSmallDisk(200);
    if (typeof disk === 'string') {
      process.stdout.write(`      skipped: ${disk}\n`);
      this.skip();
      return;
    }
    let service: Service | undefined;
    try {
      service = await startService(disk.folder);
      const { url } = service;
      const send = (method: string, path: string, body?: unknown): Promise<HttpResponse> =>
        call(`${url}${path}`, method, body, { Prefer: 'wait=0' });
      const define = (name: string): Promise<HttpResponse> => send('POST', '/event-types', eventTypeBody(name));
      const recordsOf = async (name: string): Promise<AuditRecord[]> => {
        const { body } = await send('GET', '/event-types/lendstream.audit/retained-events?limit=1000');
        const records = (body['items'] as { readonly event: AuditRecord }[]).map(({ event }) => event);
        return records.filter(({ subject }) => subject.name === name);
      };

      // The limit, with room for what these changes write.
      disk.fill(reserveBytes + 8 * mebibyte);
      expect((await define('above')).status).to.equal(201);
      disk.fill(reserveBytes - 4096);
      expect(statfsSync(disk.folder).bavail * statfsSync(disk.folder).bsize).to.be.lessThan(reserveBytes);
      // The first ones find it out, the others are refused at once.
      for (let number = 0; number < 4; number += 1) {
        const { status, body, text } = await define(`below-${number}`);
        expect([status, body['code']], text).to.deep.equal([507, 'LOG_FULL']);
        expect(text).to.contain('The audit cannot be written now, so nothing may be changed');
      }
      const key = { name: 'below', owning_application: 'shop', scopes: ['consumer'] };
      expect((await send('POST', '/api-keys', key)).status).to.equal(507);
      expect((await send('PUT', '/toggles/PRINCIPAL_OVERPAYMENT', { enabled: true })).status).to.equal(507);
      expect((await send('DELETE', '/event-types/above')).status).to.equal(507);
      const repayment = await send('POST', '/loans/unknown/repayment-transactions', { amount: 1 });
      expect(repayment.status, repayment.text).to.equal(507);
      const command = { metadata: exampleMetadata(), type: 'LOCK', loanAccountId: 'unknown', payload: {} };
      const published = await send('POST', '/event-types/lendstream.loan-commands/events', [command]);
      expect(published.status, published.text).to.equal(507);

      // Reading goes on, and shows that nothing was done.
      const toggle = await send('GET', '/toggles/PRINCIPAL_OVERPAYMENT');
      expect([toggle.status, toggle.body['enabled']]).to.deep.equal([200, false]);
      expect((await send('GET', '/event-types/above')).status).to.equal(200);
      for (const path of ['/event-types/below-0', '/event-types/below-3', '/api-keys/below']) {
        expect((await send('GET', path)).status, path).to.equal(404);
      }
      const commands = await send('GET', '/event-types/lendstream.loan-commands/retained-events');
      expect(commands.body['items']).to.deep.equal([]);

      disk.empty();
      await eventually(async () => (await define('after')).status === 201, 20_000);
      for (const name of ['above', 'after']) {
        expect(
          (await recordsOf(name)).map(({ stage, status = 0 }) => `${stage} ${status}`),
          name,
        ).to.include.members(['started 0', 'finished 201']);
      }
      for (const name of ['below-0', 'below-3', 'below']) {
        const finished = (await recordsOf(name)).filter(({ stage }) => stage === 'finished');
        expect(finished, name).to.deep.equal([]);
        if (name !== 'below') expect((await define(name)).status, name).to.equal(201);
      }
      const verified = await startProgram(['audit', 'verify'], { LENDSTREAM_URL: url }).ended;
      expect(verified.code, verified.messages).to.equal(0);
    } finally {
      await service?.stop();
      await disk.remove();
    }
  });
});
