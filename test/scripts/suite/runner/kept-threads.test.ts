import { expect } from 'chai';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import { Worker } from 'node:worker_threads';
import { keptThreads } from '../../../../scripts/suite/runner/kept-threads.ts';
import { removeFolder, temporaryFolder } from '../../../support/processes/service.ts';

interface Answer {
  readonly threadId: number;
  /** Counted by a variable of the program's module. */
  readonly requests: number;
  readonly workerData: unknown;
}

/** Answers each request. `keep` leaves a statement of a database that is never collected. */
const program = `
  const { parentPort, threadId, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('@photostructure/sqlite');
  let requests = 0;
  parentPort.on('message', ({ name }) => {
    if (name === 'fail') throw new Error('failed');
    if (name === 'keep') globalThis.kept = new DatabaseSync(':memory:').prepare('SELECT 1');
    if (name === 'end') return parentPort.close();
    requests += 1;
    parentPort.postMessage({ threadId, requests, workerData });
  });
`;

describe('threads that are kept for the next program', () => {
  let folder: string;
  let Kept: typeof Worker;

  before(async () => {
    folder = await temporaryFolder();
    writeFileSync(join(folder, 'answering.js'), program);
    Kept = keptThreads(Worker, folder);
  });

  after(() => removeFolder(folder));

  const start = (workerData: unknown = null): Worker =>
    new Kept(new URL('../../../../src/answering.js', import.meta.url), { workerData });

  async function ask(thread: Worker, name: string): Promise<Answer> {
    const answered = once(thread, 'message') as Promise<[Answer]>;
    thread.postMessage({ name }, []);
    return (await answered)[0];
  }

  /** Ends the program in order. @returns the id of its thread */
  async function close(thread: Worker): Promise<number> {
    const { threadId } = await ask(thread, 'close');
    const exited = once(thread, 'exit');
    await thread.terminate();
    await exited;
    return threadId;
  }

  it('run it with its own data and with new modules', async () => {
    const first = start('first');
    expect(await ask(first, 'one')).to.include({ requests: 1, workerData: 'first' });
    const { threadId, requests } = await ask(first, 'two');
    expect(requests).to.equal(2);
    expect(await close(first)).to.equal(threadId);

    const second = start('second');
    expect(await ask(second, 'one')).to.deep.equal({ threadId, requests: 1, workerData: 'second' });
    await close(second);
  });

  it('run it when the program before has closed its port', async () => {
    const first = start();
    const { threadId } = await ask(first, 'one');
    const exited = once(first, 'exit');
    first.postMessage({ name: 'end' }, []);
    expect(await exited).to.deep.equal([0]);
    const second = start();
    expect((await ask(second, 'one')).threadId).to.equal(threadId);
    await close(second);
  });

  it('run one program at a time', async () => {
    const [first, second] = [start(), start()];
    const ids = await Promise.all([ask(first, 'one'), ask(second, 'one')]);
    expect(ids[0]?.threadId).to.not.equal(ids[1]?.threadId);
    await Promise.all([close(first), close(second)]);
  });

  const endings: { readonly title: string; readonly end: (thread: Worker) => Promise<unknown> }[] = [
    { title: 'a program that was not closed', end: (thread) => thread.terminate() },
    {
      title: 'a program that keeps a statement of a database',
      end: (thread) => ask(thread, 'keep').then(() => close(thread)),
    },
    {
      title: 'a program that failed, which its starter learns',
      end: async (thread) => {
        const failed = once(thread, 'error');
        const exited = new Promise((resolve) => thread.once('exit', resolve));
        thread.postMessage({ name: 'fail' }, []);
        expect(String(await failed)).to.include('failed');
        expect(await exited).to.equal(1);
      },
    },
  ];
  for (const { title, end } of endings) {
    it(`end with ${title}`, async () => {
      const first = start();
      const { threadId } = await ask(first, 'one');
      await end(first);
      const second = start();
      expect((await ask(second, 'one')).threadId).to.not.equal(threadId);
      await close(second);
    });
  }

  it('have no part in programs that the bundle does not have', async () => {
    const thread = new Kept('require("node:worker_threads").parentPort.once("message", () => {})', { eval: true });
    const exited = once(thread, 'exit');
    thread.postMessage('anything', []);
    expect(await exited).to.deep.equal([0]);
  });
});
