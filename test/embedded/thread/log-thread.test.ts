import { expect } from 'chai';
import { describe, it } from 'mocha';
import { startLogThread } from '../../../src/embedded/thread/log-thread.ts';
import type { LogThread } from '../../../src/embedded/thread/log-thread.ts';
import { codeOf } from '../../support/log-reading.ts';

interface Requests {
  ask: { request: null; response: null };
}

/** Starts a thread that runs a statement for each message, and collects the failures that it reports. */
function start(statement: string): { thread: LogThread<Requests>; failures: string[] } {
  const failures: string[] = [];
  const script = `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { ${statement} });`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
  return { thread: startLogThread<Requests>(url, ({ message }) => failures.push(message)), failures };
}

describe('a thread of the log', () => {
  for (const [how, statement, message] of [
    ['by itself', 'process.exit(3);', 'exit code 3'],
    ['with an error', `throw new Error('out of memory');`, 'out of memory'],
  ] as const) {
    it(`that ends ${how} fails what waits for it and every later request, and is reported once`, async () => {
      const { thread, failures } = start(statement);
      const waiting = [thread.call('ask', null), thread.call('ask', null)];
      for (const each of waiting) expect(await codeOf(each)).to.equal('OUTCOME_UNKNOWN');
      expect(await codeOf(thread.call('ask', null))).to.equal('LOG_UNAVAILABLE');
      await thread.end();
      expect(failures).to.deep.equal([message]);
    });
  }

  it('that is ended fails what waits for it, and is not reported', async () => {
    const { thread, failures } = start('');
    const waiting = codeOf(thread.call('ask', null));
    await thread.end();
    expect(await waiting).to.equal('OUTCOME_UNKNOWN');
    expect(await codeOf(thread.call('ask', null))).to.equal('LOG_UNAVAILABLE');
    expect(failures).to.deep.equal([]);
  });
});
