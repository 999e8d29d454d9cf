import { expect } from 'chai';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer as createSocketServer, type AddressInfo, type Server as SocketServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import { redisServer } from '../../../scripts/local-cluster/prerequisites.ts';
import { redisProgram } from '../../../scripts/local-cluster/redis-server.ts';
import { createServer, PortTaken, type ServerProgram } from '../../../scripts/local-cluster/server.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { failureOf } from '../../support/thrown-errors.ts';

describe('A server of a local cluster', () => {
  let folder: string;

  before(async () => {
    folder = await temporaryFolder();
  });

  after(() => removeFolder(folder));

  /** Prints a line, creates the file by which it counts as ready, and keeps running. */
  function patient(name: string, script: string): ServerProgram {
    const mark = join(folder, `${name}.mark`);
    return {
      name,
      port: 1,
      logFile: join(folder, `${name}.log`),
      command: [process.execPath, '-e', script.replace('MARK', JSON.stringify(mark))],
      prepare: () => Promise.resolve(),
      probe: () => (existsSync(mark) ? Promise.resolve() : Promise.reject(new Error('not yet'))),
    };
  }

  it('can be started, suspended, resumed and killed', async () => {
    const staying = `require('fs').writeFileSync(MARK, ''); setInterval(() => {}, 1000)`;
    const server = createServer(patient('staying', staying), undefined, () => undefined);
    expect(server.condition()).to.equal('gone');
    await server.start();
    expect(server.condition()).to.equal('running');
    await server.kill('SIGSTOP');
    expect(server.condition()).to.equal('suspended');
    await server.kill('SIGCONT');
    expect(server.condition()).to.equal('running');
    await server.kill();
    expect(server.condition()).to.equal('gone');
  });

  it('shows its last lines when it does not start', async () => {
    const failing = patient('failing', `console.log('no such setting: colour'); process.exit(1)`);
    const failure = await failureOf(createServer(failing, undefined, () => undefined).start());
    expect(failure.message).to.contain('failing ended while it was starting');
    expect(failure.message).to.contain('no such setting: colour').and.to.contain(failing.logFile);
  });

  it('does not report output of an earlier start as the reason', async () => {
    const program = patient('again', `process.exit(1)`);
    writeFileSync(program.logFile, 'bind: Address already in use\n');
    expect(await failureOf(createServer(program, undefined, () => undefined).start())).not.to.be.instanceOf(PortTaken);
  });

  it('is started once, however often start is called', async () => {
    const pids: number[] = [];
    const staying = `require('fs').writeFileSync(MARK, ''); setInterval(() => {}, 1000)`;
    const server = createServer(patient('once', staying), undefined, ({ pid }) => pids.push(pid));
    await server.start();
    await server.start();
    await server.kill();
    expect(pids).to.have.length(1);
  });

  describe('whose port was taken by another program in the meantime', () => {
    let occupant: SocketServer;

    before(async function () {
      if (!redisServer.isThere()) {
        process.stdout.write('    skipped: there is no redis-server\n');
        this.skip();
      }
      occupant = createSocketServer((socket) => socket.destroy());
      await new Promise<void>((resolve) => {
        occupant.listen(0, '127.0.0.1', resolve);
      });
    });

    after(() => occupant?.close());

    it('reports the reason in a form of its own', async () => {
      const { port } = occupant.address() as AddressInfo;
      const program = redisProgram('redis', join(folder, 'redis'), port);
      const failure = await failureOf(createServer(program, undefined, () => undefined).start());
      expect(failure).to.be.instanceOf(PortTaken);
    });
  });
});
