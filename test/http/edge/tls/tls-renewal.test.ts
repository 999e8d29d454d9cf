import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import express from 'express';
import { once } from 'node:events';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createApplicationServer } from '../../../../src/http/edge/application.ts';
import { checkTls, readTlsFiles, type TlsFiles } from '../../../../src/http/edge/tls/tls-files.ts';
import { renewTls, tlsFilesCheckMilliseconds } from '../../../../src/http/edge/tls/tls-renewal.ts';
import { createMetrics, type Metrics } from '../../../../src/metrics.ts';
import { eventually } from '../../../support/eventually.ts';
import { leaveUnwatched } from '../../../support/http/response-watch.ts';
import { removeFolder, temporaryFolder } from '../../../support/processes/service.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';
import { Authority, writeCertificates, type Certified } from '../../../support/tls/certificates.ts';
import { connectOverTls } from '../../../support/tls/tls-client.ts';
import { recordingLogger } from '../../../support/values/recording-logger.ts';

const validFrom = Date.UTC(2026, 0, 1) - 1_000;
const inAYear = Date.UTC(2027, 0, 1);

describe('a server whose certificates change', () => {
  let folder: string;
  let authority: Authority;
  let first: Certified;
  let second: Certified;
  let server: Server;
  let clock: SimulatedClock;
  let metrics: Metrics;
  let lines: ReturnType<typeof recordingLogger>['lines'];
  let stop: () => void;

  const sign = (name: string, expiresAt = inAYear): Promise<Certified> =>
    authority.sign({ subject: `CN=${name}`, validFrom, expiresAt });

  beforeEach(async () => {
    folder = await temporaryFolder();
    authority = await Authority.create('CN=Test authority', { validFrom: 0 });
    [first, second] = [await sign('first'), await sign('second', inAYear + 60_000)];
  });

  afterEach(async () => {
    stop();
    server.close();
    await removeFolder(folder);
  });

  async function serve(files: TlsFiles): Promise<void> {
    clock = new SimulatedClock();
    const material = checkTls(await readTlsFiles(files), clock.now());
    server = createApplicationServer(express(), material);
    leaveUnwatched(server);
    metrics = createMetrics();
    const recording = recordingLogger();
    lines = recording.lines;
    stop = renewTls(server, { files, material, clock, logger: recording.logger, metrics });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }

  /** The name in the certificate that a new connection gets. */
  async function servedName(): Promise<string> {
    const { port } = server.address() as AddressInfo;
    const socket = await connectOverTls(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return String(subject.CN);
  }

  /** Lets the server look at its files until the last line of its log has this level. */
  async function look(level: 'info' | 'warn'): Promise<void> {
    await eventually(async () => {
      await clock.turn(tlsFilesCheckMilliseconds);
      return lines.at(-1)?.level === level;
    });
  }

  const expiry = async (): Promise<unknown> => (await metrics.tlsExpiresAt.get()).values;

  it('uses files that were renamed into place, and shows when they expire', async () => {
    const files = writeCertificates(folder, first);
    await serve(files);
    expect(await servedName()).to.equal('first');
    expect(await expiry()).to.deep.equal([{ value: inAYear / 1_000, labels: { setting: 'TLS_CERTIFICATE' } }]);
    const arriving = writeCertificates(join(folder, 'arriving'), second);
    renameSync(arriving.certificate, files.certificate);
    renameSync(arriving.key, files.key);
    await clock.turn(tlsFilesCheckMilliseconds - 1);
    expect(await servedName()).to.equal('first');
    await clock.turn(1);
    await eventually(() => lines.length === 1);
    expect(lines).to.deep.equal([
      {
        level: 'info',
        message: 'New connections use the changed certificates',
        expires: '2027-01-01T00:01:00.000Z',
      },
    ]);
    expect(await servedName()).to.equal('second');
    expect(await expiry()).to.deep.equal([{ value: inAYear / 1_000 + 60, labels: { setting: 'TLS_CERTIFICATE' } }]);
  });

  it('uses files whose folder is a symbolic link that is replaced, as Kubernetes does', async () => {
    for (const [version, certified] of [first, second].entries()) {
      writeCertificates(join(folder, `..${version}`), certified);
    }
    symlinkSync('..0', join(folder, '..data'));
    for (const name of ['tls.crt', 'tls.key']) symlinkSync(`..data/${name}`, join(folder, name));
    await serve({ certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key') });
    expect(await servedName()).to.equal('first');
    symlinkSync('..1', join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    rmSync(join(folder, '..0'), { recursive: true });
    await look('info');
    expect(await servedName()).to.equal('second');
  });

  const unusable: [title: string, change: (files: TlsFiles) => Promise<void> | void, error: RegExp][] = [
    [
      'half of a certificate',
      ({ certificate }) => writeFileSync(certificate, second.certificate.slice(0, 100)),
      /TLS_CERTIFICATE names a file without a certificate/,
    ],
    [
      'a certificate whose key is not there yet',
      ({ certificate }) => writeFileSync(certificate, second.certificate),
      /TLS_KEY is not the key/,
    ],
    ['a missing key', ({ key }) => rmSync(key), /TLS_KEY names a file that cannot be read: ENOENT/],
    [
      'a certificate that has expired',
      async (files) => {
        const { certificate, key } = await authority.sign({ validFrom: 0, expiresAt: validFrom });
        writeFileSync(files.certificate, certificate);
        writeFileSync(files.key, key);
      },
      /TLS_CERTIFICATE expired at 2025-12-31T23:59:59.000Z/,
    ],
  ];
  for (const [title, change, error] of unusable) {
    it(`keeps what it serves while the files have ${title}, says so once, and goes on when they are whole`, async () => {
      const files = writeCertificates(folder, first);
      await serve(files);
      await change(files);
      await look('warn');
      await clock.turn(3 * tlsFilesCheckMilliseconds);
      expect(await servedName()).to.equal('first');
      expect(lines).to.have.length(1);
      const [line] = lines as { level: string; message: string; error?: string }[];
      expect(line).to.include({
        level: 'warn',
        message: 'The certificates have changed and cannot be used; those before stay',
      });
      expect(line?.error).to.match(error);
      writeCertificates(folder, second);
      await look('info');
      expect(await servedName()).to.equal('second');
    });
  }

  it('asks for certificates of other clients when their authority changes', async () => {
    const clients = await Authority.create('CN=Clients', { validFrom: 0, expiresAt: inAYear });
    const files = writeCertificates(folder, first, authority.certificate);
    await serve({ ...files, clientCa: files.ca });
    writeFileSync(files.ca, clients.certificate);
    await look('info');
    expect(await expiry()).to.deep.include({ value: inAYear / 1_000, labels: { setting: 'TLS_CLIENT_CA' } });
    const accepted = once(server, 'secureConnection') as Promise<[{ authorized: boolean }]>;
    const { port } = server.address() as AddressInfo;
    const { certificate: cert, key } = await clients.sign({ purpose: 'client' });
    const socket = await connectOverTls(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, cert, key });
    expect((await accepted)[0].authorized).to.equal(true);
    socket.destroy();
  });
});
