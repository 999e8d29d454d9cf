import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { describe, it } from 'mocha';
import { findProgram } from '../scripts/deployment/cached-program.ts';
import { readConfig } from '../src/config.ts';
import { readableLine } from '../src/logger.ts';
import { compiledServiceProgram } from './support/processes/service-program.ts';
import { removeFolder, temporaryFolder } from './support/processes/service.ts';

const at = new Date(2026, 10, 26, 6, 5, 4, 3);
const line = (fields: object): string =>
  JSON.stringify({ level: 30, time: at.getTime(), service: 'lendstream', ...fields });

describe('a readable line of the log', () => {
  it('has the local time, the level, the sentence and the facts', () => {
    expect(readableLine(line({ partition: 0, topic: 'a', msg: 'It works' }), false)).to.equal(
      '06:05:04.003 info  It works  partition=0 topic=a',
    );
    expect(readableLine(line({ level: 50, msg: 'It fails' }), false)).to.equal('06:05:04.003 error It fails');
  });

  it('quotes facts with white space, and shows those with several lines below', () => {
    const facts = { error: 'no answer', position: null, cursor: { offset: '1' }, stack: 'Error\n  at a\n  at b' };
    expect(readableLine(line({ ...facts, msg: 'It fails' }), false)).to.equal(
      '06:05:04.003 info  It fails  error="no answer" position=null cursor={"offset":"1"}' +
        '\n  stack: Error\n      at a\n      at b',
    );
  });

  it('has colours by level where they are wanted', () => {
    expect(readableLine(line({ level: 40, msg: 'Careful' }), true)).to.contain('\u001B[33mwarn \u001B[0m Careful');
    expect(readableLine(line({ level: 50, msg: 'It fails' }), true)).to.contain('\u001B[31merror\u001B[0m It fails');
  });
});

describe('LOG_FORMAT', () => {
  it('is one of three', () => {
    expect(readConfig({}).logFormat).to.equal('auto');
    for (const format of ['auto', 'json', 'text'])
      expect(readConfig({ LOG_FORMAT: format }).logFormat).to.equal(format);
    expect(() => readConfig({ LOG_FORMAT: 'pretty' })).to.throw('LOG_FORMAT must be one of auto, json, text');
  });

  /**
   * What the service logs until it has started. With a DATA_DIR that others can read, it begins with a warning.
   * @param onTerminal Whether standard error is a terminal.
   */
  async function logOf(format: string, onTerminal: boolean): Promise<string[]> {
    const folder = await temporaryFolder();
    chmodSync(folder, 0o755);
    const start = `'${process.execPath}' '${compiledServiceProgram}' 2>&1`;
    const [program, words] = onTerminal
      ? ['script', ['--quiet', '--return', '--command', start, '/dev/null']]
      : ['sh', ['-c', start]];
    const child = spawn(program, words, {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {
        ...process.env,
        KAFKA_BROKERS: '',
        REDIS_URL: '',
        PORT: '0',
        DATA_DIR: folder,
        LOG_FORMAT: format,
        LOG_LEVEL: 'warn',
      },
    });
    let printed = '';
    for await (const piece of child.stdout) {
      printed += String(piece);
      if (printed.includes('is ready at')) break;
    }
    // The program and what it has started are one group.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await removeFolder(folder);
    return printed.split(/\r?\n/).filter((text) => text.includes('Other users of this machine'));
  }

  it('is JSON by default where standard error is no terminal, and text where it is asked for', async function () {
    this.timeout(90_000);
    const [json = ''] = await logOf('auto', false);
    expect(JSON.parse(json)).to.include({ level: 40, service: 'lendstream' });
    const [text = ''] = await logOf('text', false);
    expect(text).to.match(/^\d\d:\d\d:\d\d\.\d{3} warn {2}Other users of this machine can access the data folder {2}/);
  });

  it('is text by default on a terminal, and JSON where it is asked for', async function () {
    this.timeout(90_000);
    if (findProgram('script') === undefined) {
      process.stdout.write('      skipped: there is no script(1) to make a terminal with\n');
      this.skip();
    }
    const [text = ''] = await logOf('auto', true);
    expect(text).to.contain('\u001B[33mwarn \u001B[0m Other users');
    const [json = ''] = await logOf('json', true);
    expect(JSON.parse(json)).to.include({ level: 40, service: 'lendstream' });
  });
});
