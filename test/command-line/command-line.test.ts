import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { annuityProduct } from '../../src/admin/example-product.ts';
import { Lendstream } from '../../src/client/client.ts';
import { EmbeddedLog } from '../../src/embedded/log.ts';
import { silentLogger } from '../../src/logger.ts';
import { eventually } from '../support/eventually.ts';
import { appendTo } from '../support/log-reading.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';
import { runHere } from './run-here.ts';
import { type Ended, program, startProgram, type StartedProgram } from './started-program.ts';

const apiKey = 'key-of-the-command-line';

describe('the command line', function () {
  this.timeout(120_000);
  let folder: string;
  let service: Service;
  let lendstream: Lendstream;
  let files: string;

  before(async () => {
    folder = await temporaryFolder();
    files = await temporaryFolder();
    // What another program may have written to the log: no command that can be read.
    service = await startService(folder);
    await service.stop();
    const log = await EmbeddedLog.open({ dataFolder: folder, logger: silentLogger });
    const place = { topic: 'lendstream.loan-commands', partition: 0 };
    await appendTo(log, place, [{ key: 'loan-9', value: Buffer.from('not a command') }]);
    await log.close();
    service = await startService(folder, { API_KEYS: apiKey });
    lendstream = new Lendstream({ url: service.url, apiKey });
  });

  after(async () => {
    await service?.stop();
    await Promise.all([folder, files].map((each) => removeFolder(each)));
  });

  function start(...words: string[]): StartedProgram {
    return startProgram(words, { LENDSTREAM_URL: service.url, LENDSTREAM_API_KEY: apiKey });
  }

  function run(...words: string[]): Promise<Ended> {
    return runHere(words, { LENDSTREAM_URL: service.url, LENDSTREAM_API_KEY: apiKey });
  }

  /** The values that a command prints with --json. */
  async function json(...words: string[]): Promise<Record<string, unknown>[]> {
    const { code, output, messages } = await run(...words, '--json');
    expect(code, messages).to.equal(0);
    return output
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  async function define(category: 'business' | 'undefined' = 'business'): Promise<string> {
    const name = `orders-${randomUUID()}`;
    await lendstream.createEventType({
      name,
      owning_application: 'shop',
      category,
      ...(category === 'business' ? { enrichment_strategies: ['metadata_enrichment'] } : {}),
      schema: {
        type: 'json_schema',
        schema: '{"properties":{"order":{"type":"string"},"total":{"type":"number"}},"required":["order"]}',
      },
    });
    return name;
  }

  describe('tail', () => {
    it('says that it waits, shows events as they come, and ends with a signal', async () => {
      const name = await define();
      const tail = start('tail', name);
      await eventually(() => tail.messages().includes('waiting for events'), 20_000);
      await run('publish', name, '--data', '{"order":"A-1","total":12.50}');
      await eventually(() => tail.output().includes('"total":12.50'), 20_000);
      tail.child.kill('SIGINT');
      const { code, output } = await tail.ended;
      expect(code).to.equal(0);
      expect(output).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}0 {2}\{"order":"A-1","total":12\.50\}\n$/);
    });

    it('begins where it is told, and ends by itself', async () => {
      const name = await define();
      const data = ['A-1', 'A-2', 'A-3'].flatMap((order) => ['--data', `{"order":"${order}"}`]);
      expect((await run('publish', name, ...data)).code).to.equal(0);
      const orders = async (...words: string[]): Promise<unknown[]> =>
        (await json('tail', name, '--no-follow', ...words)).map(({ order }) => order);
      expect(await orders('--from', 'begin')).to.deep.equal(['A-1', 'A-2', 'A-3']);
      expect(await orders('--last', '2')).to.deep.equal(['A-2', 'A-3']);
      expect(await orders('--from', 'begin', '--limit', '1')).to.deep.equal(['A-1']);
      expect(await orders('--from', '2020-01-01T00:00:00Z', '--filter', '/order=A-2')).to.deep.equal(['A-2']);
      expect(await orders()).to.deep.equal([]);
      const wrong = await run('tail', name, '--from', 'yesterday');
      expect([wrong.code, wrong.messages]).to.deep.equal([
        1,
        'lendstream: 422: invalid time yesterday: it must have the form 2026-01-31T12:00:00Z\n',
      ]);
    });

    it('shows no control characters of events to a terminal', async () => {
      const name = await define('undefined');
      await lendstream.publish(name, [{ order: '\u001b[31m\u0007\u009b1m' }]);
      const { output } = await run('tail', name, '--from', 'begin', '--no-follow');
      expect(output).to.include('\\u001b[31m\\u0007\\u009b1m');
      expect(output.replaceAll('\n', '')).not.to.match(/\p{Cc}/u);
    });

    it('ends quietly when its reader has enough', async () => {
      const name = await define('undefined');
      await lendstream.publish(
        name,
        Array.from({ length: 20_000 }, (_, index) => ({ order: `${index}`.padStart(100, 'x') })),
      );
      const words = `${process.execPath} ${program} tail ${name} --from begin --no-follow --url ${service.url} --api-key ${apiKey}`;
      const piped = spawnSync('bash', ['-c', `set -o pipefail; ${words} | head -n 1`], { encoding: 'utf8' });
      expect([piped.status, piped.stderr, piped.stdout.split('\n').length]).to.deep.equal([0, '', 2]);
    });

    it('continues when the service comes back, and says what it waits for', async () => {
      const name = await define();
      const tail = start('tail', name, '--from', 'begin');
      await run('publish', name, '--data', '{"order":"A-1"}');
      await eventually(() => tail.output().includes('A-1'), 20_000);
      const port = new URL(service.url).port;
      await service.kill();
      await eventually(() => tail.messages().includes('trying again in'), 20_000);
      service = await startService(folder, { API_KEYS: apiKey, PORT: port });
      await run('publish', name, '--data', '{"order":"A-2"}');
      await eventually(() => tail.output().includes('A-2'), 60_000);
      tail.child.kill('SIGTERM');
      expect((await tail.ended).output.split('\n')).to.have.length(3);
    });
  });

  describe('publish', () => {
    it('takes events from a file, a list, lines of standard input and the command line', async () => {
      const name = await define();
      const lines = join(files, 'events.ndjson');
      await writeFile(lines, '{"order":"f-1","total":1.10}\n\n{"order":"f-2"}');
      const list = join(files, 'events.json');
      await writeFile(list, '[\n {"order":"l-1"},\n {"order":"l-2"}\n]\n');
      expect((await run('publish', name, lines)).output).to.equal('2 events are stored\n');
      expect((await run('publish', name, list)).output).to.equal('2 events are stored\n');
      expect((await run('publish', name, '--data', '{"order":"d-1"}')).output).to.equal('1 event is stored\n');
      const piped = start('publish', name);
      piped.child.stdin?.write('{"order":"ö-');
      piped.child.stdin?.end('1"}\n{"order":"s-2"}\n');
      expect(await piped.ended).to.include({ code: 0, output: '2 events are stored\n' });
      const stored = await run('tail', name, '--from', 'begin', '--no-follow');
      expect(stored.output.match(/"order":"[^"]*"(?:,"total":1\.10)?/g)).to.deep.equal([
        '"order":"f-1","total":1.10',
        ...['f-2', 'l-1', 'l-2', 'd-1', 'ö-1', 's-2'].map((order) => `"order":"${order}"`),
      ]);
    });

    it('says which events are not stored, and stores the others', async () => {
      const name = await define();
      const data = ['{"order":"A-1"}', '{"total":1}'].flatMap((text) => ['--data', text]);
      expect(await run('publish', name, ...data)).to.deep.equal({
        code: 1,
        output: '1 event is stored\n',
        messages: 'lendstream: event 2 is rejected: #: required key [order] not found\n',
      });
      const shown = await run('publish', name, '--data', '{"total":1}', '--json');
      expect(JSON.parse(shown.output)).to.deep.include({ stored: 0 }).and.to.have.nested.property('failed[0].event', 1);
    });

    it('refuses what is no event, and an event type that is not there', async () => {
      const name = await define();
      for (const [text, message] of [
        ['{', '--data is not JSON'],
        ['[]', '--data is not an object'],
        ['7', '--data is not an object'],
      ] as const) {
        const { code, messages } = await run('publish', name, '--data', text);
        expect([code, messages]).to.satisfy(([, each]: [number, string]) => each.includes(message));
        expect(code).to.equal(2);
      }
      expect((await run('publish', 'no-such-type', '--data', '{}')).code).to.equal(1);
      expect((await run('publish', name, join(files, 'no-such-file'))).code).to.equal(1);
    });
  });

  it('shows the lag of subscriptions, and of the partitions of one', async () => {
    const name = await define();
    await run('publish', name, '--data', '{"order":"A-1"}', '--data', '{"order":"A-2"}');
    const application = `billing-${randomUUID()}`;
    const definition = { owning_application: application, event_types: [name], read_from: 'begin' } as const;
    const { id } = await lendstream.subscribe(definition);
    for await (const batch of lendstream.consume(id, { stream: { batch_limit: 1 } })) {
      await batch.commit();
      break;
    }
    const [sums, ...others] = await json('lag', '--application', application);
    expect(others).to.deep.equal([]);
    expect(sums).to.deep.include({
      id,
      owning_application: application,
      consumer_group: 'default',
      event_types: [name],
      streams: 0,
      unconsumed_events: 1,
    });
    expect(sums?.['consumer_lag_seconds']).to.be.a('number');
    const table = await run('lag', id);
    expect(table.output.split('\n')[0]).to.match(/^EVENT TYPE +PARTITION +STATE +EVENTS +SECONDS$/);
    expect((await run('lag', '--event-type', name)).output).to.include(id);
    expect((await json('cursors', id))[0]).to.include({ offset: '001-0001-000000000000000000' });
    expect((await run('lag', 'no-such-id')).code).to.equal(1);
  });

  it('moves a subscription when it is told so twice', async () => {
    const name = await define();
    const data = ['A-1', 'A-2', 'A-3'].flatMap((order) => ['--data', `{"order":"${order}"}`]);
    await run('publish', name, ...data);
    const definition = { owning_application: 'billing', event_types: [name], read_from: 'begin' } as const;
    const { id } = await lendstream.subscribe(definition);
    const shown = await run('cursors', 'move', id, '--to', 'end');
    expect(shown.messages).to.equal('lendstream: nothing was moved; with --yes 3 events are skipped, 0 are repeated\n');
    expect((await lendstream.lag(id))[0]?.partitions[0]?.unconsumed_events).to.equal(3);
    const consumer = lendstream.consume(id);
    const consuming = (async () => {
      for await (const batch of consumer) await batch.commit();
    })();
    await eventually(async () => (await lendstream.lag(id))[0]?.partitions[0]?.unconsumed_events === 0, 10_000);
    consumer.stop();
    await consuming;
    const place = ['--event-type', name, '--partition', '0'];
    for (const [words, left] of [
      [['--shift', '-2'], 2],
      [['--to', 'end', ...place], 0],
      [['--to', '2020-01-01T00:00:00Z'], 3],
      [['--offset', '001-0001-000000000000000000', ...place], 2],
      [['--like', id], 2],
    ] as const) {
      const moved = await run('cursors', 'move', id, '--yes', ...words);
      expect([moved.code, moved.messages.startsWith('lendstream: moved: ')], moved.messages).to.deep.equal([0, true]);
      expect((await lendstream.lag(id))[0]?.partitions[0]?.unconsumed_events, words.join(' ')).to.equal(left);
    }
    expect((await run('cursors', 'move', id)).code).to.equal(2);
    expect((await run('cursors', 'move', id, '--to', 'end', '--shift', '1')).code).to.equal(2);
    expect((await json('cursors', 'move', id, '--to', 'end'))[0]).to.include({ applied: false, skipped: 2 });
  });

  it('shows event types and how versions of a schema differ', async () => {
    const name = await define();
    expect((await json('types', '--application', 'shop')).map((each) => each['name'])).to.include(name);
    expect((await run('types')).output).to.match(new RegExp(`^${name} +business +1\\.0\\.0 +shop$`, 'm'));
    expect((await run('types', name)).output).to.include('category: "business"\n');
    expect(await run('schema', 'diff', name)).to.include({ code: 0, output: '' });
    const next =
      '{"properties":{"order":{"type":"string"},"total":{"type":"number"},"note":{"type":"string"}},"required":["order"]}';
    const file = join(files, 'schema.json');
    await writeFile(file, next);
    const proposed = await run('schema', 'diff', name, '--file', file);
    expect(proposed.code).to.equal(4);
    expect(proposed.messages).to.equal('lendstream: compatible in mode forward\n');
    await lendstream.request('POST', `/event-types/${name}/schemas`, { body: { type: 'json_schema', schema: next } });
    const { code, output } = await run('schema', 'diff', name);
    expect(code).to.equal(4);
    expect(output.split('\n').filter((line) => /^[-+]/.test(line))).to.deep.equal([
      '--- 1.0.0',
      '+++ 1.1.0',
      '+    },',
      '+    "note": {',
      '+      "type": "string"',
    ]);
    expect((await run('schema', 'diff', name, '1.1.0', '1.1.0')).code).to.equal(0);
    expect((await run('schema', 'diff', name, '9.9.9')).messages).to.include('no version 9.9.9, but 1.1.0, 1.0.0');
    await writeFile(file, '{"properties":{"order":{"type":"number"}}}');
    expect((await run('schema', 'diff', name, '--file', file)).messages).to.include('not compatible in mode forward');
  });

  it('shows loans, and the balances, schedule and events of one', async () => {
    await lendstream.request('POST', '/loanproducts', { body: annuityProduct('annuity') });
    const payload = { productTypeKey: 'annuity', loanAmount: 1000 };
    await lendstream.commands.run({ type: 'CREATE_LOAN', loanAccountId: 'loan-1', payload });
    await lendstream.commands.run({ type: 'CHANGE_STATE', loanAccountId: 'loan-1', payload: { action: 'APPROVE' } });
    await lendstream.commands.run({ type: 'DISBURSE', loanAccountId: 'loan-1' });
    expect((await run('loans')).output).to.match(/^loan-1 +ACTIVE +.*1000\.00 +EUR +1000\.00/m);
    expect((await json('loans', '--state', 'CLOSED')).length).to.equal(0);
    expect((await run('loans', 'loan-1')).output).to.match(/^loan-1: ACTIVE\n(.|\n)*principalBalance +1000\.00/);
    expect((await run('loans', 'loan-1', '--schedule')).output.split('\n')).to.have.length(6);
    const events = await json('loans', 'loan-1', '--events');
    expect(events.map(({ sequence }) => sequence)).to.deep.equal(events.map((_, index) => index + 1));
    expect((await run('loans', 'loan-7')).code).to.equal(1);
  });

  it('shows the commands that could not be read', async () => {
    await eventually(async () => (await json('dead-letters')).length === 1, 20_000);
    const [letter] = await json('dead-letters');
    expect(letter).to.include({ command: 'not a command' });
    expect((await run('dead-letters')).output).to.match(/^ID +TIME +COMMAND ID +PLACE +REASON +DEALT WITH\n0-0 .*0:0/);
    expect(await json('dead-letters', '--text', 'no such text')).to.deep.equal([]);
    const marked = await run('dead-letters', 'mark', '0-0', '--note', 'the producer was told');
    expect([marked.code, marked.messages]).to.deep.equal([0, 'lendstream: letter 0-0 is dealt with\n']);
    expect(await json('dead-letters', '--open')).to.deep.equal([]);
    expect((await run('dead-letters')).output).to.contain('the producer was told');
    expect((await run('dead-letters', 'mark', '0-0', '--open')).code).to.equal(0);
    expect(await json('dead-letters', '--open')).to.have.length(1);
    const resent = await run('dead-letters', 'resend', '0-0');
    expect(resent.code, resent.messages).to.equal(0);
    expect(resent.messages).to.match(/^lendstream: sent again: partition 0, offset 001-0001-\d{18}\n$/);
    // It cannot be read again, so there is another letter.
    await eventually(async () => (await json('dead-letters', '--open')).length === 1, 20_000);
    expect((await run('dead-letters', 'resend', '0-999')).code).to.equal(1);
    expect((await run('dead-letters', 'mark', 'nothing')).code).to.equal(1);
  });

  describe('what is wrong', () => {
    it('with a command line is one line, and exit code 2', async () => {
      for (const [words, message] of [
        [['loans', '--nope'], 'there is no option --nope'],
        [['loans', '-x'], 'there is no option -x'],
        [['tail'], '"tail" needs <event-type>'],
        [['tail', 'a', 'b'], '"b" is not understood'],
        [['tail', 'a', '--last', '0'], '--last needs a whole number from 1, not "0"'],
        [['tail', 'a', '--last', '2', '--from', 'end'], '--from and --last exclude each other'],
        [['tail', 'a', '--filter', '--json'], '--filter needs POINTER=VALUE'],
        [['tail', 'a', '--json=yes'], '--json takes no value'],
        [['schema'], '"schema" needs another word: schema diff'],
        [['nothing'], 'there is no command "nothing": lendstream --help lists them'],
        [['--json', 'loans'], 'the command comes before --json'],
        [['loans', '--url', 'nowhere'], '"nowhere" is no URL'],
        [['completion', 'csh'], 'there is a completion for bash, zsh, fish, not for "csh"'],
      ] as const) {
        expect(await run(...words), words.join(' ')).to.deep.equal({
          code: 2,
          output: '',
          messages: `lendstream: ${message}\n`,
        });
      }
      const { code, messages } = await start('nothing').ended;
      expect([code, messages.split('\n').length]).to.deep.equal([2, 2]);
    });

    it('with the key says where to give one', async () => {
      const { code, messages } = await runHere(['lag'], { LENDSTREAM_URL: service.url });
      expect(code).to.equal(1);
      expect(messages).to.match(/^lendstream: 401: .*\n.*--api-key or LENDSTREAM_API_KEY\n$/);
      expect((await runHere(['lag', '--url', service.url, '--api-key', apiKey])).code).to.equal(0);
    });

    it('with the service is told before each wait, and ends with exit code 3', async () => {
      const nowhere = ['lag', '--url', 'http://127.0.0.1:9'];
      const waiting = await run(...nowhere, '--wait', '1');
      expect(waiting.code).to.equal(3);
      expect(waiting.messages).to.match(
        /^lendstream: http:\/\/127\.0\.0\.1:9 does not respond: .*; trying again in 0\.\d s\n/,
      );
      const atOnce = await run(...nowhere, '--wait', '0');
      expect(atOnce.code).to.equal(3);
      expect(atOnce.messages).to.match(
        /^lendstream: http:\/\/127\.0\.0\.1:9 does not respond: .*\nlendstream: .*--url, LENDSTREAM_URL or PORT.*\n$/,
      );
    });

    it('with an address that the environment names tells which one was tried', async () => {
      const triedWith = async (
        environment: Record<string, string>,
        ...words: string[]
      ): Promise<string | undefined> => {
        const { code, messages } = await runHere(['lag', '--wait', '0', ...words], environment);
        expect(code).to.equal(3);
        return /^lendstream: (\S+) does not respond/.exec(messages)?.[1];
      };
      expect(await triedWith({ PORT: '9' })).to.equal('http://127.0.0.1:9');
      expect(await triedWith({ LENDSTREAM_URL: '', PORT: '9' })).to.equal('http://127.0.0.1:9');
      expect(await triedWith({ LENDSTREAM_URL: 'http://localhost:7', PORT: '9' })).to.equal('http://localhost:7');
      expect(await triedWith({ PORT: '9' }, '--url', 'http://localhost:7')).to.equal('http://localhost:7');
    });
  });

  it('finds a service on this machine by its port alone', async () => {
    const { code, messages } = await runHere(['types'], {
      PORT: new URL(service.url).port,
      LENDSTREAM_API_KEY: apiKey,
    });
    expect(code, messages).to.equal(0);
  });

  it('has help for the program and each command', async () => {
    for (const words of [['--help'], ['help']]) {
      const { code, output } = await start(...words).ended;
      expect([code, output.split('\n')[0]]).to.deep.equal([
        0,
        'Usage: lendstream COMMAND [--url URL] [--api-key KEY] [--json]',
      ]);
    }
    const tail = await run('tail', '--help');
    expect(tail.output).to.match(/^Usage: lendstream tail <event-type> \[OPTIONS\]\n(.|\n)*--filter POINTER=VALUE/);
    expect((await run('help', 'schema', 'diff')).output).to.match(/^Usage: lendstream schema diff/);
    expect((await run()).code).to.equal(2);
  });

  it('completes commands, options and their values in shells', async () => {
    const bash = (await run('completion', 'bash')).output;
    const complete = (...words: string[]): string[] => {
      const quoted = words.map((word) => `'${word}'`).join(' ');
      const script = `${bash}\nCOMP_WORDS=(lendstream ${quoted}); COMP_CWORD=${words.length}; _lendstream; echo "\${COMPREPLY[@]}"`;
      return spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.trim().split(' ');
    };
    expect(complete('t')).to.deep.equal(['tail', 'types']);
    expect(complete('schema', '')).to.deep.equal(['diff']);
    expect(complete('tail', 'orders', '--f')).to.deep.equal(['--filter', '--from']);
    expect(complete('tail', 'orders', '--from', '')).to.deep.equal(['begin', 'end']);
    expect((await run('completion', 'zsh')).output).to.include('bashcompinit');
    expect((await run('completion', 'fish')).output).to.include(`-a tail -d 'show events`);
  });
});
