import { expect } from 'chai';
import { it } from 'mocha';
import { renameSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { tlsFilesCheckMilliseconds } from '../../src/http/edge/tls/tls-renewal.ts';
import { describeOnCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';
import { Authority, writeCertificates, type Certified } from '../support/tls/certificates.ts';
import { callOverTls, connectOverTls, openOverTls } from '../support/tls/tls-client.ts';

const apiKey = 'a-key-that-travels-encrypted';
const authorization = { Authorization: `Bearer ${apiKey}` };

/** What a busy machine takes beyond the stated time. Milliseconds. */
const graceMilliseconds = 2_500;

/** Between two looks at the certificates that are served. Milliseconds. */
const lookMilliseconds = 50;

/** Two processes of one service with the same files, as a Secret of Kubernetes gives them to all of its pods. */
describeOnCluster('two processes over TLS whose files change', (cluster) => {
  it('use the new pair within the stated time, never half of one, while a stream of each goes on', async function () {
    this.timeout(120_000);
    const folder = await temporaryFolder();
    const authority = await Authority.create();
    const place = (version: string, certified: Certified): void => {
      writeCertificates(join(folder, version), certified);
      // The files are links to a folder that is itself a link, which changes at once.
      symlinkSync(version, join(folder, `..${version}`));
      renameSync(join(folder, `..${version}`), join(folder, '..data'));
    };
    place('first', await authority.sign({ subject: 'CN=first' }));
    const files = { certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
    symlinkSync('..data/tls.crt', files.certificate);
    symlinkSync('..data/tls.key', files.key);
    const { kafkaBrokers, redisUrl } = cluster();
    const settings = {
      API_KEYS: apiKey,
      TLS_CERTIFICATE: files.certificate,
      TLS_KEY: files.key,
      KAFKA_BROKERS: kafkaBrokers.join(','),
      REDIS_URL: redisUrl,
      ROLES: 'serve',
    };
    const services: Service[] = [];
    try {
      for (const name of ['one', 'two']) services.push(await startService(join(folder, name), settings));
      const ca = authority.certificate;
      const servedNames = (): Promise<string[]> =>
        Promise.all(
          services.map(async ({ url }) => {
            const socket = await connectOverTls(url, { ca, servername: 'localhost' });
            const { subject } = socket.getPeerCertificate();
            socket.destroy();
            return String(subject.CN);
          }),
        );
      expect(await servedNames()).to.deep.equal(['first', 'first']);

      const send = (at: number, method: string, path: string, body?: unknown) =>
        callOverTls(`${services[at]?.url}${path}`, { ca, method, headers: authorization, body });
      const name = `tls.two-processes-${basename(folder)}`;
      const schema = { type: 'json_schema', schema: '{}' };
      const definition = { name, owning_application: 'tests', category: 'undefined', schema };
      expect((await send(0, 'POST', '/event-types', definition)).status).to.equal(201);
      const texts = ['', ''];
      const streams = await Promise.all(
        services.map(async ({ url }, at) => {
          const stream = await openOverTls(`${url}/event-types/${name}/events?batch_flush_timeout=1`, {
            ca,
            headers: authorization,
          });
          expect(stream.statusCode).to.equal(200);
          return stream.on('data', (chunk) => (texts[at] += String(chunk))).on('error', () => undefined);
        }),
      );

      // A certificate whose key has not come yet: both stay with what they have.
      writeCertificates(join(folder, 'half'), { ...(await authority.sign({ subject: 'CN=half' })), key: '' });
      symlinkSync('half', join(folder, '..half'));
      renameSync(join(folder, '..half'), join(folder, '..data'));
      const until = performance.now() + tlsFilesCheckMilliseconds + graceMilliseconds;
      while (performance.now() < until) {
        expect(await servedNames()).to.deep.equal(['first', 'first']);
        await systemClock.sleep(lookMilliseconds);
      }

      place('second', await authority.sign({ subject: 'CN=second' }));
      await eventually(
        async () => (await servedNames()).every((served) => served === 'second'),
        tlsFilesCheckMilliseconds + graceMilliseconds,
      );
      // A connection that one process has accepted with the new pair is accepted by the other with it, too.
      expect((await send(1, 'POST', `/event-types/${name}/events`, [{ number: 1 }])).status).to.equal(200);
      await eventually(() => texts.every((text) => text.includes('"number":1')));
      for (const stream of streams) stream.socket.destroy();
    } finally {
      await Promise.all(services.map((service) => service.stop()));
      await removeFolder(folder);
    }
  });
});
