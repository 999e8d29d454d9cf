import { expect } from 'chai';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { after, before, describe, it } from 'mocha';
import { call } from '../support/http/client.ts';
import { startServiceHere, type ServiceHere } from '../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

const program = fileURLToPath(new URL('../../scripts/demo.js', import.meta.url));

describe('scripts/demo', function () {
  this.timeout(60_000);
  let service: ServiceHere;
  let folder: string;

  before(async () => {
    folder = await temporaryFolder();
    service = await startServiceHere(folder);
  });
  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  /** Returns whether it came to its end, and how many subscriptions and event types of the demo there are then. */
  async function runDemo(...words: string[]) {
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...words], {
      env: { ...process.env, LENDSTREAM_URL: service.url },
    });
    const { body: subscriptions } = await call(`${service.url}/subscriptions?owning_application=demo`, 'GET');
    const types = (await (await fetch(`${service.url}/event-types`)).json()) as { name: string }[];
    return {
      isComplete: /^\d+ events received and committed, in order per loan, none twice\.$/m.test(stdout),
      subscriptions: (subscriptions['items'] as object[]).length,
      eventTypes: types.filter(({ name }) => name.startsWith('demo.')).length,
    };
  }

  it('removes its subscription and its event type, so that no lag grows after it', async () => {
    expect(await runDemo()).to.deep.equal({ isComplete: true, subscriptions: 0, eventTypes: 0 });
  });

  it('removes them when it is stopped with Ctrl-C', async () => {
    const demo = spawn(process.execPath, [program], { env: { ...process.env, LENDSTREAM_URL: service.url } });
    const ended = once(demo, 'exit');
    let printed = '';
    for await (const chunk of demo.stdout) {
      const before = printed;
      printed += String(chunk);
      if (/^3\. /m.test(printed) && !/^3\. /m.test(before)) demo.kill('SIGINT');
    }
    expect((await ended)[0]).to.equal(130);
    const { body } = await call(`${service.url}/subscriptions?owning_application=demo`, 'GET');
    expect(body['items']).to.deep.equal([]);
    expect(await (await fetch(`${service.url}/event-types?q=demo.`)).json()).to.deep.equal([]);
  });

  it('keeps them with --keep', async () => {
    expect(await runDemo('--keep')).to.deep.equal({ isComplete: true, subscriptions: 1, eventTypes: 1 });
  });
});
